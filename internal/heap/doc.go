// Package heap decides how the heap of a process grows. Whatever imports it has it so, from its
// start: this package is initialised before the hundreds of packages of Kubernetes, which
// allocate as much as many a scan.
//
// # Collections
//
// Go collects the garbage of a small heap often. Here it is collected for the first time when the
// heap is as large as small runs never have it, and later as it grows by a percentage of what is
// live. Lasting is for processes that stay: their heap is as small as it can be.
//
// # Profiles
//
// Go samples what is allocated for profiles of memory, which nothing here writes: a tenth of the
// page faults of a start. Tests have samples with -memprofilerate.
//
// # Huge pages
//
// The first use of each page of memory is a fault that the kernel answers. On a virtual machine,
// which most runners of CI are, it costs many times what it costs elsewhere, and a scan has tens
// of thousands of them. Linux gives transparent huge pages of 2 MiB to every program, to none, or
// to those that advise it to (/sys/kernel/mm/transparent_hugepage/enabled); Go's runtime does not
// advise it. This package does, for memory that the heap grows into.
//
// See Documentation/admin-guide/mm/transhuge.rst of Linux.
package heap
