// Package hugepages backs the heap with huge pages.
//
// The first use of each page of memory is a fault that the kernel answers. On a virtual machine,
// which most runners of CI are, it costs many times what it costs elsewhere, and a scan has tens
// of thousands of them. The kernel gives transparent huge pages of 2 MiB to every program, to
// none, or to those that advise it to (/sys/kernel/mm/transparent_hugepage/enabled); Go's
// runtime does not advise it. Reserve does, for memory that the heap grows into later.
//
// See Documentation/admin-guide/mm/transhuge.rst of Linux.
package hugepages
