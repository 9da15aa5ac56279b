// Package store stores the contents of artifacts in a directory, by digest, and opens them.
//
// A [Store] has a file for each content, named by its SHA-256. The file is written under another name and then renamed.
// It is verified against its name each time it is read: a damaged or forged file counts as missing. [Store.Tree] opens
// an archive as a read-only fs.FS within [Limits]; nothing is ever unpacked to disk. [Locked] returns the contents that
// a lock names.
package store
