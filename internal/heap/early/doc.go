// Package early prepares the heap before other packages are initialised: these allocate as much as
// many a scan.
//
// Packages are initialised in the order of their paths, but for what they import. This one imports
// next to nothing, so that it comes before nearly all.
//
// # Huge pages
//
// The first use of each page of memory is a fault that the kernel answers. On a virtual machine,
// which most runners of CI are, it costs many times what it costs elsewhere, and a scan has tens
// of thousands of them. Linux provides transparent huge pages of 2 MiB to every program, to none, or
// to those that advise it to (/sys/kernel/mm/transparent_hugepage/enabled); Go's runtime does not
// advise it. This package does, for what the heap has and for memory that it grows into.
//
// Memory that was given back to the kernel and is used again comes in small pages. So the block by
// which the heap is made to grow is not given back at once.
//
// # Profiles
//
// Go samples what is allocated for profiles of memory, which nothing here writes: a tenth of the
// page faults of a start. Tests have samples with -memprofilerate.
//
// See Documentation/admin-guide/mm/transhuge.rst of Linux, and "Package initialization" in the
// specification of Go.
package early
