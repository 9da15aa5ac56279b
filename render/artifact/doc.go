// Package artifact describes what is needed from outside a repository: an [Artifact] is requested, and a [Pin] is what
// it is resolved to. [Contents] returns what was fetched before; nothing here uses the network.
//
// The packages below store pins in preadmit.lock (lock) and contents in a directory (store), and decide what may be
// fetched for a change (permit).
package artifact
