package jailed

import (
	"context"
	"errors"
	"time"

	"github.com/preadmit/preadmit/internal/jail"
)

// probeTime is how long a child may take to enter its jail.
const probeTime = 30 * time.Second

// errProbed ends a child that was only to enter its jail.
var errProbed = errors.New("it has entered its jail")

// Probe reports whether a child can enter a whole jail here, by having one do so. Its error
// is a *jail.UnavailableError when the system refuses.
func (s *Scanner) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	limits := s.Limits.withDefaults()
	c := jail.Command{
		Program: s.Program, Args: s.Args,
		Limits: jail.Limits{Memory: limits.Memory, CPU: limits.CPU},
	}
	child, err := c.Start(ctx)
	if err != nil {
		return err
	}
	child.Kill(errProbed)
	child.Wait()
	return nil
}
