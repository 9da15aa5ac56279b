package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/sandbox"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
)

// sandboxFlags are the flags of preadmit sandbox: some flags of scan, and its own.
type sandboxFlags struct {
	scan    *scan.Flags
	target  string
	dataDir string
	port    int
	verify  bool
	watch   bool
	empty   bool
	command []string
	// given is the content of stdin, which is read once and used for all updates.
	given *bytes.Buffer
}

func newSandboxCommand(p cli.Process) *cobra.Command {
	f := &sandboxFlags{scan: scan.NewFlags()}
	cmd := &cobra.Command{
		Use:   "sandbox [PATH] [-- COMMAND...]",
		Short: "Run a real API server with the state of a repository",
		Long: `Run a Kubernetes API server with the state of a repository, on loopback and in
one process: kube-apiserver and etcd themselves, with the controllers that
policies need, and no kubelet. kubectl and every other client can use it.

PATH is a directory, by default the current one. The objects of the roots at or
below it are loaded, and the objects of the whole repository that decide about
them: first CRDs, then Namespaces, other objects that decide, policies, and the
rest, each as its deployer applies it. Refused objects are listed. Without
COMMAND, the server runs until Ctrl-C. With COMMAND, it is run with KUBECONFIG set,
and preadmit ends with its exit code. The data is removed at the end, unless
--data-dir is given.

--verify compares the server's response to each object with that of a scan, for
every cluster unless --target is given.
--watch applies changes of the work tree when files are saved, and deletes removed
objects.

The server is a separate program, preadmit-sandbox, beside preadmit or on PATH:
  go install github.com/preadmit/preadmit/cmd/preadmit-sandbox@latest

Exit code: that of COMMAND; else 0 ended, 1 --verify found a difference, 2 wrong
usage or configuration, 3 the server could not be started or loaded, or --verify
could not compare all objects, since a root does not render or lacks a remote base.`,
		Example: `  # A server with all objects of the work tree
  preadmit sandbox

  # The server's response to a file
  preadmit sandbox -- kubectl apply --dry-run=server -f x.yaml

  # The cluster of an entry point, at main
  preadmit sandbox --head main --target clusters/production

  # Try policies while writing them
  preadmit sandbox --watch

  # Compare a scan with the server
  preadmit sandbox --verify`,
		Args: f.arguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSandbox(cmd.Context(), p, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.target, "target", "", "`NAME` of the target or cluster to load, if there are several")
	flags.BoolVar(&f.verify, "verify", false, "compare the server's responses with those of a scan, and end")
	flags.BoolVar(&f.watch, "watch", false, "apply changes of the work tree when files are saved")
	flags.BoolVar(&f.empty, "empty", false, "load nothing")
	flags.StringVar(&f.dataDir, "data-dir", "", "store the data in this `DIR`, and start with the data in it")
	flags.IntVar(&f.port, "port", 0, "`PORT` on 127.0.0.1 (default any free port)")
	f.scan.RegisterState(cmd)
	_ = cmd.RegisterFlagCompletionFunc("data-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)) // it exists
	return cmd
}

// arguments parses the positional arguments.
func (f *sandboxFlags) arguments(cmd *cobra.Command, args []string) error {
	paths := args
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		paths, f.command = args[:at], args[at:]
		if len(f.command) == 0 {
			return cli.Usagef("there is no command after --")
		}
	}
	if len(paths) > 1 {
		return cli.Usagef("sandbox takes one PATH, got %q; a command is written after --", paths)
	}
	if len(paths) == 1 {
		f.scan.Path = paths[0]
	}
	return nil
}

// check returns an error if flags are invalid or contradict each other.
func (f *sandboxFlags) check() error {
	switch {
	case f.empty && f.verify:
		return cli.Usagef("--empty loads nothing, and leaves --verify nothing to compare")
	case f.watch && (f.empty || f.verify || f.scan.Head != ""):
		return cli.Usagef("--watch applies what changes in the work tree, and excludes --empty, --verify and --head")
	case f.port < 0 || f.port > 65535:
		return cli.Usagef("--port %d: want 1 to 65535", f.port)
	case f.scan.Given("data-dir") && f.dataDir == "":
		return cli.Usagef("--data-dir is empty: give a directory")
	}
	if len(f.command) > 0 {
		if err := sandbox.CheckProgram(f.command[0]); err != nil {
			return err
		}
	}
	return f.scan.Check()
}

// runSandbox runs the command.
func runSandbox(ctx context.Context, p cli.Process, f *sandboxFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	program, err := sandbox.Find(p)
	if err != nil {
		return err
	}
	var watch *sandbox.Watch
	if f.watch {
		watch = f.look()
	}
	state := &sandboxState{}
	if !f.empty {
		if state.deployment, err = f.deploy(ctx, p); err != nil {
			return err
		}
	}
	if p.Lasting != nil {
		p.Lasting() // stopping the server may take longer than the grace period
	}
	switch {
	case f.empty:
		return f.onServer(ctx, p, program, nil, nil)
	case f.comparesAll(state.deployment):
		return f.verifyAll(ctx, p, program, state.deployment)
	}
	if state.cluster, err = f.choose(state.deployment.Clusters); err != nil {
		return err
	}
	return f.onServer(ctx, p, program, state, watch)
}

// onServer runs a server with a state, nil for none, until the command ends.
func (f *sandboxFlags) onServer(ctx context.Context, p cli.Process, program string, state *sandboxState, watch *sandbox.Watch) error {
	server, loader, err := f.start(ctx, program)
	if err != nil {
		return err
	}
	defer server.Stop()
	var differs error
	var loaded *sandbox.Loaded
	if state != nil {
		var verified *sandbox.Verified
		if loaded, verified, err = f.load(ctx, p, loader, state); err != nil {
			return err
		}
		if verified != nil {
			differs = outcome(verified, state.deployment)
		}
	}
	if f.watch {
		stop, err := f.follow(ctx, p, watch, loader, loaded)
		if err != nil {
			return err
		}
		defer stop()
	}
	switch {
	case len(f.command) > 0:
		if err := server.Run(ctx, p, f.command); err != nil {
			return err
		}
		return differs
	case f.verify:
		return differs
	}
	return f.serve(ctx, p, server)
}

// sandboxState is the state to load into a server.
type sandboxState struct {
	deployment *scanner.Deployment
	cluster    scanner.Deployed
}

// start starts a server, and returns it with its loader.
func (f *sandboxFlags) start(ctx context.Context, program string) (*sandbox.Server, *sandbox.Loader, error) {
	server, err := sandbox.Start(ctx, sandbox.Options{Program: program, Data: f.dataDir, Port: f.port})
	if err != nil {
		return nil, nil, err
	}
	loader, err := sandbox.NewLoader(server)
	if err == nil {
		err = loader.CheckVersion(admission.KubernetesVersion())
	}
	if err != nil {
		server.Stop()
		return nil, nil, err
	}
	return server, loader, nil
}

// deploy renders and judges the objects that are deployed.
func (f *sandboxFlags) deploy(ctx context.Context, p cli.Process) (*scanner.Deployment, error) {
	change, err := scan.Open(f.scan)
	if err != nil {
		return nil, err
	}
	var stdin io.Reader
	if f.given == nil {
		f.given = new(bytes.Buffer)
		stdin = io.TeeReader(p.Stdin, f.given)
	} else {
		stdin = bytes.NewReader(f.given.Bytes())
	}
	extras, err := scan.OpenExtras(ctx, stdin, f.scan)
	if err != nil {
		return nil, err
	}
	return scan.Deploy(ctx, p, f.scan, change, extras)
}

// choose returns the cluster that --target names, or the only one.
func (f *sandboxFlags) choose(clusters []scanner.Deployed) (scanner.Deployed, error) {
	var names []string
	for _, c := range clusters {
		names = append(names, escape.Line(c.Name))
	}
	if len(clusters) == 1 && f.target == "" {
		return clusters[0], nil
	}
	if i := slices.IndexFunc(clusters, func(c scanner.Deployed) bool { return c.Name == f.target && f.target != "" }); i >= 0 {
		return clusters[i], nil
	}
	known := strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), ", ")
	switch {
	case f.target == "":
		return scanner.Deployed{}, cli.Usagef("the repository deploys to several clusters: give --target with one of %s", known)
	case known == "":
		return scanner.Deployed{}, cli.Usagef("--target %s: all roots are one cluster, which has no name: leave --target out", f.target)
	}
	return scanner.Deployed{}, cli.Usagef("--target %s: there is no such target, want one of %s", f.target, known)
}

// load loads the state into the server and, with --verify, compares.
func (f *sandboxFlags) load(ctx context.Context, p cli.Process, loader *sandbox.Loader, s *sandboxState) (loaded *sandbox.Loaded, verified *sandbox.Verified, err error) {
	progress := cli.NewProgress(p, f.scan.Quiet)
	loader.Progress = progress.Update
	loaded, err = loader.Load(ctx, s.cluster)
	if err == nil && f.verify {
		verified, err = loader.Verify(ctx, loaded)
	}
	progress.Erase()
	loader.Progress = nil
	if err != nil {
		return nil, nil, err
	}
	loaded.Write(p.Stderr, s.deployment, f.scan.Quiet)
	if verified != nil {
		verified.Write(p.Stdout, s.deployment.Report)
	}
	return loaded, verified, nil
}

// look returns a watch of the files to follow, without the directories that the server and the
// cache write to.
func (f *sandboxFlags) look() *sandbox.Watch {
	root := f.scan.Path
	if repository, err := gittree.Open(f.scan.Path); err == nil {
		root = repository.Root()
	}
	paths := slices.DeleteFunc(slices.Concat([]string{root}, f.scan.Policies.Values, f.scan.Context.Values), func(path string) bool { return path == "-" })
	return sandbox.NewWatch(paths, []string{f.dataDir, f.scan.Cache.Dir()})
}

// follow applies the changes in the work tree until stop is called or ctx ends. It reports what does
// not render; the server keeps its previous objects.
func (f *sandboxFlags) follow(ctx context.Context, p cli.Process, watch *sandbox.Watch, loader *sandbox.Loader, loaded *sandbox.Loaded) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	quiet := f.scan.Quiet
	f.scan.Quiet = true // progress would disturb the output of a command
	go func() {
		defer close(done)
		_ = watch.Follow(ctx, func() error {
			d, err := f.deploy(ctx, p)
			var cluster scanner.Deployed
			if err == nil {
				cluster, err = f.choose(d.Clusters)
			}
			var update *sandbox.Update
			if err == nil {
				update, err = loader.Update(ctx, loaded, cluster, d.Unrendered)
			}
			switch {
			case ctx.Err() != nil:
			case err != nil:
				_, _ = fmt.Fprintf(p.Stderr, "preadmit: not applied: %s\n", escape.Line(err.Error()))
			default:
				update.Write(p.Stderr, d, quiet)
				loaded = update.Loaded
			}
			return nil
		})
	}()
	return func() { cancel(); <-done }, nil
}

// serve prints how to use the server, and waits until the user ends it.
func (f *sandboxFlags) serve(ctx context.Context, p cli.Process, server *sandbox.Server) error {
	_, err := fmt.Fprintf(p.Stdout, `export KUBECONFIG=%s

  kubectl get validatingadmissionpolicies -o wide
  kubectl apply --dry-run=server -f FILE
  kubectl auth can-i --list --as USER

Ctrl-C ends the server`, server.Kubeconfig)
	switch {
	case err != nil:
	case f.dataDir == "":
		_, err = fmt.Fprintln(p.Stdout, " and removes its data.")
	default:
		_, err = fmt.Fprintf(p.Stdout, "; its data stays in %s.\n", f.dataDir)
	}
	if err != nil {
		return fmt.Errorf("say how to use the server: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-server.Ended():
		return server.Err()
	}
}
