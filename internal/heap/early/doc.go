// Package early prepares the heap before other packages are initialised, which allocate as much as
// many a scan.
//
// Packages are initialised in the order of their paths, after their imports. This one imports
// next to nothing, so that it is initialised before nearly all.
//
// # Huge pages
//
// The first use of each page of memory causes a page fault. On virtual machines, such as most CI
// runners, a fault costs many times as much as elsewhere, and a scan has tens of thousands of them.
// Linux provides transparent huge pages of 2 MiB to all programs, to none, or to those that request
// them with madvise (/sys/kernel/mm/transparent_hugepage/enabled); Go's runtime does not. This
// package does, for the existing heap and for memory into which it grows.
//
// Memory that was returned to the kernel and is used again gets small pages. So the blocks by which
// the heap is enlarged are not returned at once.
//
// # Profiles
//
// Go samples allocations for memory profiles, which nothing here writes: that is a tenth of the page
// faults of a start. Tests get samples with -memprofilerate.
//
// See Documentation/admin-guide/mm/transhuge.rst of Linux, and "Package initialization" in the
// specification of Go.
package early
