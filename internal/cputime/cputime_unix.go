//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns the processor time that this process has used.
func Used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it fails only for invalid arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
