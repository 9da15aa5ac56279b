package jailed

import (
	"context"
	"errors"
	"time"

	"github.com/preadmit/preadmit/internal/jail"
)

// probeTime is how long a child may take to enter its jail.
const probeTime = 30 * time.Second

// errProbed ends a child that only had to enter its jail.
var errProbed = errors.New("it has entered its jail")

// Probe checks whether a child can enter a complete jail here, by starting one. Its error
// is a *jail.UnavailableError when the system does not support it.
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
