package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/sandbox"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner"
)

// comparesAll reports whether --verify compares each of several clusters. It does not if the server
// is used afterwards, which needs the state of a single cluster.
func (f *sandboxFlags) comparesAll(d *scanner.Deployment) bool {
	return f.verify && f.target == "" && f.dataDir == "" && len(f.command) == 0 && len(d.Clusters) > 1
}

// verifyAll compares each cluster on a server of its own. It returns the error for differences before
// that for clusters that were not compared completely.
func (f *sandboxFlags) verifyAll(ctx context.Context, p cli.Process, program string, d *scanner.Deployment) error {
	var differs, incomplete error
	for i, c := range d.Clusters {
		name := escape.Line(c.Name)
		if name == "" {
			name = "roots of no cluster"
		}
		if _, err := fmt.Fprintf(p.Stdout, "%s:\n", name); err != nil {
			return fmt.Errorf("say what is compared: %w", err)
		}
		told := d
		if i > 0 { // print what does not render only once
			told = &scanner.Deployment{Report: d.Report}
		}
		verified, err := f.verifyOne(ctx, p, program, &sandboxState{told, c})
		if err != nil {
			return err
		}
		switch err := outcome(verified, d); {
		case errors.Is(err, cli.ErrFindings):
			differs = err
		case incomplete == nil:
			incomplete = err
		}
	}
	if differs != nil {
		return differs
	}
	return incomplete
}

// verifyOne compares one cluster on a server that it stops at the end.
func (f *sandboxFlags) verifyOne(ctx context.Context, p cli.Process, program string, s *sandboxState) (*sandbox.Verified, error) {
	server, loader, err := f.start(ctx, program)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	_, verified, err := f.load(ctx, p, loader, s)
	return verified, err
}

// outcome returns the error to end with after a cluster was compared.
func outcome(v *sandbox.Verified, d *scanner.Deployment) error {
	switch {
	case v.Compared == 0:
		return &cli.ExitError{Code: cli.ExitIncomplete, Err: errors.New("--verify: there is nothing to compare")}
	case len(v.Differences) > 0:
		return cli.ErrFindings
	case sandbox.Broken(d):
		return &cli.ExitError{Code: cli.ExitIncomplete, Err: errors.New("--verify: what does not render is not compared")}
	}
	return nil
}
