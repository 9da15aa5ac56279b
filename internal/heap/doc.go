// Package heap controls how the heap of a process grows. Importing it is sufficient: this package is
// initialised before the hundreds of packages of Kubernetes, and package early before nearly all
// others.
//
// # Collections
//
// Go collects the garbage of a small heap often. With this package the first collection is at a size
// that small runs do not reach, and later ones depend on the growth relative to the live heap.
// Lasting is for long-running processes: their heap stays as small as possible.
//
// GOGC in the environment takes precedence, and GOMEMLIMIT limits the heap.
package heap
