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
		Short: "Read from a cluster what judges requests, into a file for --context",
		Long: `Read from a cluster what judges requests - Namespaces, CustomResourceDefinitions,
policies, bindings and their params, RBAC, classes, LimitRanges, ServiceAccounts -
and write it as one file for --context, or for context in the configuration.

Nothing is written to the cluster, and nothing is read but lists of these kinds.
Of Secrets, which are read only if asked for or if policies take them as params,
the values are left out. The file says when it was taken, and of which kinds it
is complete: what is in neither the file nor the repository does not exist.

Exit code: 0 written, 2 wrong usage, 3 the cluster or one of the kinds could not
be read; what was read is written.`,
		Example: `  # What judges requests in the cluster of the current context
  preadmit snapshot -o cluster.yaml
  preadmit scan --context cluster.yaml

  # Only some kinds
  preadmit snapshot --kind Namespace --kind CustomResourceDefinition`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSnapshot(cmd.Context(), p, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `FILE` (default as kubectl has it)")
	flags.StringVar(&f.context, "kube-context", "", "`NAME` of a context in it, in place of the current one")
	flags.Var(&f.kinds, "kind", "read this `KIND` instead of those above: KIND or KIND.GROUP (repeatable)")
	flags.Var(&f.also, "also", "read this `KIND` as well (repeatable)")
	flags.BoolVar(&f.secretValues, "secret-values", false, "write the values of Secrets, too")
	flags.StringVarP(&f.output, "output", "o", "-", "write to this `FILE`, readable for you alone; - is stdout")
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
	cmd := &cobra.Command{Use: "context", Short: "Look at a snapshot of a cluster", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var most time.Duration
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Say how old a snapshot is, and of what it is complete",
		Long: `Say when a snapshot was taken, of which cluster, and of which kinds it is complete.

Exit code: 0, 1 it is older than --max-age, 2 wrong usage.`,
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
	check.Flags().DurationVar(&most, "max-age", 0, "fail if it is older than this `TIME`; 0 never fails")
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
