// Package embedded runs the NATS server within the process. It does not listen on the network,
// keeps its data in one directory that no other process uses meanwhile, and can be restarted when
// it rejects writes.
package embedded
