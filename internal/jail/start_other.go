//go:build !linux

package jail

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// Check returns an *UnavailableError.
func Check() error {
	return &UnavailableError{Why: fmt.Sprintf("%s has no Landlock and no seccomp: run this on Linux 5.13 or later", runtime.GOOS)}
}

// Start is for Linux only.
func (c *Command) Start(context.Context) (*Child, error) { return nil, Check() }

// AdoptOrphans is for Linux only.
func AdoptOrphans() error { return Check() }

// Enter is for Linux only.
func Enter() (*os.File, error) { return nil, Check() }
