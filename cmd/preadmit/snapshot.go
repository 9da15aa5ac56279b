package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/snapshot"
	"github.com/preadmit/preadmit/report/format/escape"
)

// snapshotFlags are the flags of preadmit snapshot.
type snapshotFlags struct {
	kubeconfig, context string
	kinds, also         cli.Words
	secretValues        bool
	output              string
}

func newSnapshotCommand(p cli.Process) *cobra.Command {
	f := &snapshotFlags{kinds: cli.Words{Kind: "KIND"}, also: cli.Words{Kind: "KIND"}}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save what decides about requests in a cluster to a file for --context",
		Long: `Read the objects that decide about requests from a cluster - Namespaces,
CustomResourceDefinitions, policies, bindings and their params, RBAC, classes,
LimitRanges, ServiceAccounts - and write them to one file for --context, or for
context in the configuration.

Nothing is written to the cluster, and only lists of these kinds are read.
Secrets are read only with --also Secret, or if policies use them as params, and
without their values. The file contains the time of the snapshot and the kinds
that are complete: an object of such a kind that is neither in the file nor in
the repository does not exist.

Exit code: 0 written, 2 wrong usage, 3 the cluster or one of the kinds could not
be read; the other kinds are written.`,
		Example: `  # The cluster of the current context
  preadmit snapshot -o cluster.yaml
  preadmit scan --context cluster.yaml

  # Only some kinds
  preadmit snapshot --kind Namespace --kind CustomResourceDefinition`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSnapshot(cmd.Context(), p, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `FILE` (default that of kubectl)")
	flags.StringVar(&f.context, "kube-context", "", "`NAME` of a context of the kubeconfig (default the current one)")
	flags.Var(&f.kinds, "kind", "read only this `KIND`, as KIND or KIND.GROUP (repeatable)")
	flags.Var(&f.also, "also", "also read this `KIND` (repeatable)")
	flags.BoolVar(&f.secretValues, "secret-values", false, "also write the values of Secrets")
	flags.StringVarP(&f.output, "output", "o", "-", "write to this `FILE`, which only you can read; - for stdout")
	return cmd
}

// runSnapshot runs the command.
func runSnapshot(ctx context.Context, p cli.Process, f *snapshotFlags) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return cli.Usagef("kubeconfig: there is none, so no cluster is known: name it with --kubeconfig or in KUBECONFIG")
	}
	if err != nil {
		return cli.Usagef("kubeconfig: %w", err)
	}
	cluster.UserAgent, cluster.Timeout = "preadmit", time.Minute
	taken, err := snapshot.Take(ctx, cluster, snapshot.Options{Only: f.kinds.Values, Also: f.also.Values, SecretValues: f.secretValues, Now: time.Now()})
	if err != nil {
		return err
	}
	data, err := taken.Encode()
	if err != nil {
		return err
	}
	if f.output == "-" {
		_, err = p.Stdout.Write(data)
	} else {
		err = cli.WritePrivateFile(f.output, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err != nil {
		return fmt.Errorf("write the snapshot: %w", err)
	}
	for _, why := range taken.Missed {
		_, _ = fmt.Fprintf(p.Stderr, "not read: %s\n", escape.Line(why))
	}
	_, _ = fmt.Fprintf(p.Stderr, "preadmit: %s of %s\n", cli.Count(taken.Count(), "object", "objects"), cli.Count(len(taken.Complete), "kind", "kinds"))
	if n := len(taken.Missed); n > 0 {
		return &cli.ExitError{Code: cli.ExitIncomplete, Err: fmt.Errorf("%s could not be read", cli.Count(n, "kind", "kinds"))}
	}
	return nil
}

func newContextCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{Use: "context", Short: "Inspect a snapshot of a cluster", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var most time.Duration
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Print the age of a snapshot and the kinds that are complete",
		Long: `Print when a snapshot was taken, from which cluster, and which kinds are complete.

Exit code: 0 printed, 1 the snapshot is older than --max-age, 2 wrong usage.`,
		Example: `  # In CI: is it older than a week?
  preadmit context check cluster.yaml --max-age 168h`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("context check takes one FILE, got %q", args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return checkContext(p, args[0], most, time.Now()) },
	}
	check.Flags().DurationVar(&most, "max-age", 0, "fail if the snapshot is older than this `DURATION`; 0 for no limit")
	cmd.AddCommand(check)
	return cmd
}

// checkContext prints the age and the kinds of a snapshot.
func checkContext(p cli.Process, file string, most time.Duration, now time.Time) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	h, err := snapshot.ReadHeader(data)
	if err != nil {
		return cli.Usagef("%s: %w", escape.Line(file), err)
	}
	age := now.Sub(h.Taken).Truncate(time.Minute)
	_, _ = fmt.Fprintf(p.Stdout, "taken %s, %v ago, of %s (%s)\ncomplete of %s:\n", h.Taken.Format(time.RFC3339), age, escape.Line(h.Server), escape.Line(h.Version), cli.Count(len(h.Complete), "kind", "kinds"))
	for _, kind := range h.Complete {
		_, _ = fmt.Fprintf(p.Stdout, "  %s\n", escape.Line(kind))
	}
	if most > 0 && age > most {
		_, _ = fmt.Fprintf(p.Stdout, "older than %v: take a new one with preadmit snapshot\n", most)
		return cli.ErrFindings
	}
	return nil
}
