// Package cli is what the commands of preadmit have in common, whatever they do: the process
// they run in, exit codes, kinds of flags, where reports are written to, progress on a
// terminal, and the limits of time and memory.
//
// It links nothing of Kubernetes, so its tests are quick. What commands that judge have in
// common is in package scan.
package cli
