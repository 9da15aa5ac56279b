// Package cli has the code that all commands of preadmit share: the process they run in, exit
// codes, kinds of flags, outputs of reports, progress on a terminal, and limits of time and
// memory.
//
// It does not link Kubernetes, so its tests are fast. Package scan has the code that commands
// that judge share.
package cli
