package jailed

import (
	"context"
	"errors"
	"io"
)

// Scan scans. When ctx ends, the child and all it started are killed at once, and the
// error is that of ctx. Other errors are an *InputError if the repository is at fault, a
// *DeathError if children died without telling of a root that can be left out, and
// one of package jail when the system cannot build the jail.
func (s *Scanner) Scan(ctx context.Context, request Request, progress Progress) (*Outcome, error) {
	return nil, errors.ErrUnsupported
}

// ChildMain is the other side of Scan. The process reads a request from in, writes to
// out, and should end afterwards. It must have entered its jail.
func ChildMain(ctx context.Context, in io.Reader, out io.Writer) error {
	return errors.ErrUnsupported
}
