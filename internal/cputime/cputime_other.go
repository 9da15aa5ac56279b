//go:build !unix

package cputime

import "time"

// Used returns the wall-clock time, since this system does not report processor time.
func Used() time.Duration { return time.Duration(time.Now().UnixNano()) }
