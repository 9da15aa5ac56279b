package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/playground"
	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/webhooks"
)

func newServeCommand(p cli.Process) *cobra.Command {
	var config string
	var dev bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Judge pull requests as a GitHub App",
		Long: `Run a GitHub App: receive webhooks, judge the change of each pull request, and
publish the result as a check run, a comment and to code scanning.

Every setting has a flag, an environment variable and a key of the configuration
file, in that order of precedence: --scan-memory, PREADMIT_SCAN_MEMORY, scan.memory.
Secrets have no flag: they are files, or environment variables. Files with secrets
are read again when they change, and at once on SIGHUP.

With --dev the service starts without an App, on this machine only, and the page
/setup creates one; see docs/github-app.md.

On SIGTERM or SIGINT the service ends when running scans are done; after the time of
--drain they return to the queue. A second signal ends it at once.`,
		Example: `  # Try it without an App
  preadmit serve --dev

  # With an App; see docs/serve.md
  preadmit serve --config /etc/preadmit/serve.yaml`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&config, "config", "", "configuration `FILE` (YAML)")
	flags.BoolVar(&dev, "dev", false, "for development: without an App, and only this machine can reach the service")
	given := registerSettings(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s := webhooks.Sources{Flags: given(), Getenv: p.Getenv, Environ: p.Environ, File: config, Dev: dev}
		return serve(cmd.Context(), p, s)
	}
	return cmd
}

// registerSettings declares a flag for every setting that may have one. The returned function
// returns the values of the flags that were given.
func registerSettings(flags *pflag.FlagSet) func() map[string][]string {
	values := map[string]*settingFlag{}
	for _, s := range webhooks.Settings(&webhooks.Config{}) {
		if s.Flag == "" {
			continue
		}
		value := &settingFlag{kind: s.Argument}
		values[s.Flag] = value
		usage := s.Usage
		if s.Default != "" {
			usage += fmt.Sprintf(" (default %s)", s.Default)
		}
		flags.Var(value, s.Flag, usage)
	}
	return func() map[string][]string {
		given := map[string][]string{}
		for name, v := range values {
			if flags.Changed(name) {
				given[name] = v.values
			}
		}
		return given
	}
}

// settingFlag stores the values of a setting as text, which webhooks.ReadConfig parses.
type settingFlag struct {
	values []string
	kind   string
}

func (f *settingFlag) String() string         { return "" }
func (f *settingFlag) Type() string           { return f.kind }
func (f *settingFlag) Set(value string) error { f.values = append(f.values, value); return nil }

// serve runs the service until ctx ends.
func serve(ctx context.Context, p cli.Process, s webhooks.Sources) (err error) {
	if s.File != "" {
		if s.Data, err = os.ReadFile(s.File); err != nil {
			return cli.Usagef("--config: %w", err)
		}
	}
	config, err := webhooks.Load(s)
	if err != nil {
		return cli.Usagef("configuration of the service:\n%w", err)
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	log := logger(p.Stderr, config.Log)
	if err := jail.AdoptOrphans(); err != nil {
		log.Warn("what a scan leaves behind is left to the first process of the system", "error", err)
	}
	service, err := webhooks.New(ctx, webhooks.Options{
		Config: config, Dev: s.Dev, Version: cli.Version(), Program: p.Executable, Args: []string{jailedCommand}, PlaygroundArgs: []string{playground.JudgeCommand},
		PlaygroundVersions: playground.Versions(), Getenv: p.Getenv, Dial: p.Dial,
		Log: log, Reload: reload,
	})
	if err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	if p.Lasting != nil {
		p.Lasting()
	}
	err = service.Run(ctx)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return nil
	case webhooks.Misconfigured(err):
		return cli.Usagef("configuration of the service: %w", err)
	}
	return fmt.Errorf("the service ended: %w", err)
}

func logger(w io.Writer, c webhooks.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // cannot fail: webhooks.ReadConfig checks it
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == "text" {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}
