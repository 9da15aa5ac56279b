package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	reports "github.com/preadmit/preadmit/report"
)

// testSuites runs preadmit test on suites, with the version of the server, and returns the results by directory.
func (o *options) testSuites(ctx context.Context, dirs []string) (map[string]*reports.SuiteResult, error) {
	results := map[string]*reports.SuiteResult{}
	if len(dirs) == 0 {
		return results, nil
	}
	var stdout, stderr bytes.Buffer
	args := []string{"test", "--format", "json"}
	if o.version != "" {
		args = append(args, "--kubernetes-version", o.version)
	}
	cmd := exec.CommandContext(ctx, o.preadmit, append(append(args, "--"), dirs...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit) && exit.ExitCode() == 1: // some do not agree
	case err != nil:
		return nil, fmt.Errorf("run preadmit test: %w\n%s", err, stderr.String())
	}
	var report struct{ Suites []*reports.SuiteResult }
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		return nil, fmt.Errorf("read the report of preadmit test: %w", err)
	}
	for _, r := range report.Suites {
		results[r.Dir] = r
	}
	for _, dir := range dirs {
		if results[dir] == nil {
			return nil, fmt.Errorf("preadmit test has no result for %s", dir)
		}
	}
	return results, nil
}
