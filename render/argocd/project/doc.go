// Package project reports what AppProjects of Argo CD permit: sources, destinations and kinds of objects, and which
// service accounts syncs impersonate.
package project
