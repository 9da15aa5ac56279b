// Package project evaluates AppProjects of Argo CD: the permitted sources, destinations and kinds of objects, and the
// service accounts that syncs impersonate.
package project
