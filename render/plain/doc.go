// Package plain is the source of directories of manifests: all objects of the listed files,
// as kubectl reads them. Their fields are where they are written.
package plain
