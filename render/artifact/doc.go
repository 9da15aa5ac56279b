// Package artifact says what is needed from outside a repository, and what it turned out to
// be: an [Artifact] is requested, a [Pin] is what it is resolved to. [Contents] returns what
// was fetched before; nothing here reaches a network.
//
// The packages below keep pins in preadmit.lock (lock), contents in a directory (store), and
// say what may be fetched for a change (permit).
package artifact
