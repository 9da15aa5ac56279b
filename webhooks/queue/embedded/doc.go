// Package embedded is the NATS server within the process: it listens to nobody, keeps its data in
// one directory that no other process uses meanwhile, and can be started again when it takes no
// writes any more.
package embedded
