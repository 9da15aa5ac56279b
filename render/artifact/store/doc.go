// Package store keeps the contents of artifacts in a directory, by digest, and opens them.
//
// A [Store] has a file for each content, named by its SHA-256. It is written aside and
// renamed, and read again and compared with its name each time it is used: a damaged or forged
// file counts as not there. [Tree] opens an archive as a read-only fs.FS within [Limits]; nothing
// is ever unpacked to a disk. [Locked] returns the contents that a lock names.
package store
