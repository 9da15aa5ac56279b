package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/artifacts"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/format/escape"
)

// fetchFlags are the flags of preadmit fetch.
type fetchFlags struct {
	artifacts artifacts.Flags
	path      string
	check     bool
	update    string
	size      int64 // MiB
}

// everything is the value of --update without a URL.
const everything = "*"

func newFetchCommand(p cli.Process) *cobra.Command {
	f := &fetchFlags{artifacts: artifacts.NewFlags(), path: "."}
	cmd := &cobra.Command{
		Use:   "fetch [PATH]",
		Short: "Fetch remote bases and charts, and lock them in " + lock.FileName,
		Long: `Fetch the artifacts that the roots of a repository use - remote bases and files of
kustomizations, Helm charts, Flux sources - and write the version, commit, digest and
size of each to ` + lock.FileName + `. scan, diff and render then use them without a
network.

A locked artifact stays as it is, even if its tag moves; --update fetches it again.
The contents are stored in the user's cache directory, by digest.

Only HTTPS is used, and git over SSH for hosts with a key in --credentials. preadmit
connects to a private address only if --private-host names its host. The
configuration of git, SSH, Docker and Helm is not read.

Exit code: 0 all artifacts are locked and stored, 1 with --check an artifact is
missing or moved, 2 wrong usage, 3 an artifact could not be fetched.`,
		Example: `  # Lock and fetch all artifacts
  preadmit fetch

  # In CI: check that the lock is complete, and that no tag moved
  preadmit fetch --check

  # Update the charts of one repository, within their ranges
  preadmit fetch --update=https://charts.example.com`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("fetch takes one PATH, got %q", args)
			}
			f.path = append(args, ".")[0]
			return nil
		},
		ValidArgsFunction: directoriesOnly,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runFetch(cmd.Context(), p, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.check, "check", false, "write nothing, and list artifacts that are missing in the lock, no longer needed, or moved")
	flags.StringVar(&f.update, "update", "", "fetch the artifacts of this `URL` again, or all without a URL")
	flags.Lookup("update").NoOptDefVal = everything
	f.artifacts.Register(flags)
	flags.Int64Var(&f.size, "artifact-size", artifacts.DefaultSize, "largest size of the directory of artifacts after a run, in `MIB`")
	return cmd
}

// runFetch runs the command.
func runFetch(ctx context.Context, p cli.Process, f *fetchFlags) error {
	if f.check && f.update != "" {
		return cli.Usagef("--check writes nothing: use either --check or --update")
	}
	if f.size < 1 {
		return cli.Usagef("--artifact-size: %d MiB is not a size, want at least 1", f.size)
	}
	scanned := scan.NewFlags()
	scanned.Path, scanned.Given = f.path, func(string) bool { return false }
	change, err := scan.Open(scanned)
	if err != nil {
		return err
	}
	cfg, _, err := scan.LoadConfig(scanned, change)
	if err != nil {
		return err
	}
	before, err := lock.Load(change.Head.FS)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	kept, err := f.artifacts.Store()
	if err != nil {
		return err
	}
	client, err := f.artifacts.Client(p, kept)
	if err != nil {
		return err
	}
	run := &fetching{flags: f, out: p.Stdout, before: before, client: client}
	found, err := artifacts.Gather(ctx, &artifacts.Tree{
		Files: change.Head.FS, Render: scan.RenderOptions(p, cfg.LoadRestrictor, nil), Deploy: change.Deploy(cfg), CRDs: cfg.CRDs,
	}, kept, run.resolve)
	if err != nil {
		return scan.Error(ctx, err)
	}
	if f.check {
		return run.checked(found)
	}
	return run.finish(found, kept)
}

// fetching is a run of the command.
type fetching struct {
	flags  *fetchFlags
	out    io.Writer
	before *lock.Lock
	client *fetch.Client
}

// resolve fetches an artifact, as locked or, with --check and --update, in its current
// version.
func (r *fetching) resolve(ctx context.Context, a artifact.Artifact) (artifact.Pin, error) {
	pin, locked := r.before.Find(a)
	if locked && !r.flags.check && r.flags.update != everything && r.flags.update != a.URL {
		return pin, r.client.Get(ctx, a, pin)
	}
	return r.client.Resolve(ctx, a)
}

// printLine writes a line about an artifact.
func (r *fetching) printLine(what string, a artifact.Artifact, detail string) {
	_, _ = fmt.Fprintf(r.out, "%-9s %s: %s\n", what, escape.Line(a.String()), escape.Line(detail))
}

// checked reports the differences between the lock and the artifacts that are needed and
// available now.
func (r *fetching) checked(found *artifacts.Found) error {
	bad := 0
	for _, a := range found.Artifacts() {
		before, locked := r.before.Find(a)
		now, there := found.Lock.Find(a)
		switch {
		case !locked:
			r.printLine("missing", a, "used at "+found.Needed[a].String())
		case !there:
			r.printLine("failed", a, artifacts.Reason(found.Failed[a]))
		case now.Digest != before.Digest:
			r.printLine("moved", a, describe(before)+" is locked, it is "+describe(now)+" now")
		default:
			continue
		}
		bad++
	}
	for _, a := range r.before.Artifacts() {
		if _, ok := found.Needed[a]; !ok {
			r.printLine("unused", a, "nothing uses it")
			bad++
		}
	}
	_, _ = fmt.Fprintf(r.out, "%s, %d not as locked\n", cli.Count(len(found.Needed), "artifact", "artifacts"), bad)
	if bad > 0 {
		return cli.ErrFindings
	}
	return nil
}

// finish reports what was fetched, writes the lock and trims the store to its size.
func (r *fetching) finish(found *artifacts.Found, kept *store.Store) error {
	r.describe(found)
	if err := r.write(found.Lock); err != nil {
		return err
	}
	if err := kept.Trim(r.flags.size<<20, found.Lock.Digests()); err != nil {
		return err
	}
	if n := len(found.Failed); n > 0 {
		return &cli.ExitError{Code: cli.ExitIncomplete, Err: fmt.Errorf("%s could not be fetched", cli.Count(n, "artifact", "artifacts"))}
	}
	return nil
}

// describe reports the outcome for each artifact. For an artifact that failed, the lock keeps
// its previous entry.
func (r *fetching) describe(found *artifacts.Found) {
	for _, a := range found.Artifacts() {
		before, locked := r.before.Find(a)
		now, there := found.Lock.Find(a)
		switch {
		case !there:
			r.printLine("failed", a, fmt.Sprintf("%s (used at %s)", artifacts.Reason(found.Failed[a]), found.Needed[a]))
			if locked {
				found.Lock.Set(a, before)
			}
		case !locked:
			r.printLine("locked", a, describe(now))
		case now != before:
			r.printLine("updated", a, describe(before)+" -> "+describe(now))
		}
	}
	for _, a := range r.before.Artifacts() {
		if _, ok := found.Needed[a]; !ok {
			r.printLine("removed", a, "nothing uses it")
		}
	}
	_, _ = fmt.Fprintf(r.out, "%s, %d failed\n", cli.Count(len(found.Needed), "artifact", "artifacts"), len(found.Failed))
}

// describe returns the version of a pin and its abbreviated commit or digest.
func describe(pin artifact.Pin) string {
	name := strings.TrimPrefix(pin.Digest, "sha256:")[:12]
	if pin.Commit != "" {
		name = pin.Commit[:12]
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(pin.Version, "refs/heads/"), "refs/tags/") + " " + name)
}

// write writes the lock to the top directory of the repository, if it changed.
func (r *fetching) write(l *lock.Lock) error {
	if len(l.Artifacts()) == 0 && r.before == nil || r.before != nil && string(l.Encode()) == string(r.before.Encode()) {
		return nil
	}
	top := r.flags.path
	if repository, err := gittree.Open(top); err == nil {
		top = repository.Root()
	}
	name := filepath.Join(top, lock.FileName)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return cli.Usagef("%s is no file", name)
	}
	if err := os.WriteFile(name, l.Encode(), 0o644); err != nil {
		return fmt.Errorf("write the lock: %w", err)
	}
	return nil
}
