// Package plain is the source of directories of manifests: their objects are all objects of the listed files, as
// kubectl reads them.
package plain
