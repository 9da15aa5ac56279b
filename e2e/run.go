package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/e2e/replay"
	reports "github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/suite"
)

// conformance is one run of the command.
type conformance struct {
	*options
	dir      string // temporary directory of the run
	cluster  *live.Cluster
	recorder *replay.Recorder
	report   *report
	progress io.Writer
}

// replayed is a suite with the server's answers.
type replayed struct {
	// name is the name of the suite in the report.
	name string
	*suite.Suite
	record *replay.Record
	// copy is the directory of a copy of the suite, with the answers as expected.yaml.
	copy string
	// generated is set for suites generated from the objects of a tree.
	generated bool
}

// run compares everything and returns the number of differences.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) (differences int, err error) {
	began := time.Now()
	binaries, err := live.FindBinaries(o.apiServer)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "preadmit-conformance-")
	if err != nil {
		return 0, fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dirs, err := find(o.suites)
	if err != nil {
		return 0, err
	}
	cluster, err := live.Start(ctx, binaries, dir)
	defer cluster.Stop()
	if err != nil {
		return 0, fmt.Errorf("start an API server: %w", err)
	}
	recorder, err := replay.New(ctx, cluster)
	if err != nil {
		return 0, err
	}
	c := &conformance{options: o, dir: dir, cluster: cluster, recorder: recorder, report: &report{w: stdout}, progress: stderr}
	if err := c.suites(ctx, dirs); err != nil {
		return 0, err
	}
	if err := c.trees(ctx); err != nil {
		return 0, err
	}
	if err := c.updates(ctx); err != nil {
		return 0, err
	}
	c.report.summary(recorder.Source(), time.Since(began))
	return c.report.differences(), nil
}

func find(dirs []string) ([]string, error) {
	var all []string
	for _, dir := range dirs {
		found, err := suite.Find(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// suites replays the suites of directories and compares.
func (c *conformance) suites(ctx context.Context, dirs []string) error {
	var all []*replayed
	for i, dir := range dirs {
		fmt.Fprintf(c.progress, "%d/%d %s\n", i+1, len(dirs), dir)
		s, err := c.open(dir)
		if err != nil {
			return err
		}
		r, err := c.replay(ctx, dir, s)
		if err != nil {
			return err
		}
		if r != nil {
			all = append(all, r)
		}
	}
	return c.compare(ctx, all)
}

// open opens a suite. If its records have an invalid format, it opens the suite without them.
func (c *conformance) open(dir string) (*suite.Suite, error) {
	s, err := suite.Open(dir)
	if err == nil {
		return s, nil
	}
	unrecorded, failed := suite.Load(withoutRecords{os.DirFS(dir)})
	if failed != nil {
		return nil, err
	}
	fmt.Fprintf(c.progress, "its records are not read: %v\n", err)
	unrecorded.Dir = dir
	return unrecorded, nil
}

// withoutRecords is the file system of a suite without its expected.yaml.
type withoutRecords struct{ fs.FS }

// Open implements fs.FS.
func (f withoutRecords) Open(name string) (fs.File, error) {
	if name == suite.ExpectedFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.FS.Open(name)
}

// replay sends a suite to the server. It reports a suite that cannot be sent and returns
// nil; an error is about the whole run.
func (c *conformance) replay(ctx context.Context, name string, s *suite.Suite) (*replayed, error) {
	record, err := c.recorder.Record(ctx, s)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && c.version != "" && isUnknownKind(err) {
		c.report.skip(err) // the suite needs a kind of a later version
		return nil, nil
	}
	if err != nil {
		c.report.unsent(name, err)
		return nil, nil
	}
	r := &replayed{name: name, Suite: s, record: record}
	r.copy = filepath.Join(c.dir, "suites", fmt.Sprintf("%04d", c.report.suites))
	c.report.count(s)
	return r, writeSuite(r.copy, s, record.Expected)
}

// compare compares replayed suites: preadmit with the server, and both with the records.
func (c *conformance) compare(ctx context.Context, all []*replayed) error {
	if len(all) == 0 {
		return nil
	}
	var copies, originals []string
	for _, r := range all {
		copies = append(copies, r.copy)
		if r.Expected != nil {
			originals = append(originals, r.Dir)
		}
	}
	now, err := c.testSuites(ctx, copies)
	if err != nil {
		return err
	}
	recorded, err := c.testSuites(ctx, originals)
	if err != nil {
		return err
	}
	for _, r := range all {
		c.report.failures(r.name, now[r.copy])
		c.unsent(r, now[r.copy])
		if err := c.drift(r, now[r.copy], recorded[r.Dir]); err != nil {
			return err
		}
		if err := c.prepared(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// unsent reports requests that could not be sent. preadmit must not claim to know
// their answer.
func (c *conformance) unsent(r *replayed, now *reports.SuiteResult) {
	for i := range now.Verdicts {
		v := &now.Verdicts[i]
		err, unsent := r.record.Unasked[v.Name]
		switch {
		case !unsent || isUnknownKind(err) && !v.Allowed && v.Code == http.StatusNotFound:
		case len(v.Indeterminate) == 0 && isUnknownKind(err):
			c.report.failures(r.name, &reports.SuiteResult{Failures: []reports.SuiteFailure{{
				Request: v.Name, Differences: []reports.Difference{{Field: "allowed", Expected: err.Error(), Actual: v.Allowed}},
			}}})
		case r.generated:
			c.report.skip(err)
		default:
			c.report.unsent(r.name+": "+v.Name, err)
		}
	}
}

func isUnknownKind(err error) bool {
	var unknown *live.UnknownKindError
	return errors.As(err, &unknown)
}
