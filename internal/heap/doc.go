// Package heap decides how the heap of a process grows. Whatever imports it has it so, from its
// start: this package is initialised before the hundreds of packages of Kubernetes, and package early
// before nearly all others.
//
// # Collections
//
// Go collects the garbage of a small heap often. Here it is collected for the first time when the
// heap is as large as small runs never have it, and later as it grows by a percentage of what is
// live. Lasting is for processes that stay: their heap is as small as it can be.
//
// GOGC in the environment decides instead, and GOMEMLIMIT bounds it.
package heap
