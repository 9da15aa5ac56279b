// Package playground has the command that serves the page to try policies on, and the hidden command
// that judges for the page.
package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
	trial "github.com/preadmit/preadmit/scanner/playground"
	"github.com/preadmit/preadmit/scanner/release"
	page "github.com/preadmit/preadmit/webhooks/playground"
)

// JudgeCommand is the name of the command that judges for the playground.
const JudgeCommand = "playground-judge"

// NewCommand returns the command preadmit playground.
func NewCommand(p cli.Process) *cobra.Command {
	var port int
	var stay bool
	cmd := &cobra.Command{
		Use:   "playground",
		Short: "Try policies in a browser",
		Long: `Serve a page for trying policies on this machine. Policies and bindings, an object
and the state of the cluster are YAML; the page shows the response of the API
server, the field that decides whether a policy applies, and the value of each
part of each expression.

The page opens in a browser, and connects only to this program, which runs until
Ctrl-C. The input is judged in a separate process, in a jail if the system supports
it.

Exit code: 0 ended, 2 wrong usage, 3 the page cannot be served.`,
		Example: `  # Open the page
  preadmit playground

  # Only print the URL
  preadmit playground --no-browser --port 8090`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("preadmit playground takes no arguments, got %q", args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return cli.Usagef("--port %d: want 1 to 65535", port)
			}
			return run(cmd.Context(), p, port, !stay)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().IntVar(&port, "port", 0, "`PORT` on 127.0.0.1 (default any free port)")
	cmd.Flags().BoolVar(&stay, "no-browser", false, "do not open a browser")
	return cmd
}

// NewJudgeCommand returns the hidden command that judges for the playground.
func NewJudgeCommand(p cli.Process) *cobra.Command {
	var plain bool
	var version string
	cmd := &cobra.Command{
		Use:    JudgeCommand,
		Short:  "Judge requests of the playground (used by preadmit itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named, err := release.ParseVersion(version)
			if err == nil {
				err = emulation.Set(release.Release{Version: named})
			}
			if err != nil {
				return cli.Usagef("--kubernetes-version %w", err)
			}
			if plain {
				return trial.Serve(cmd.Context(), p.Stdin, p.Stdout)
			}
			results, err := jail.Enter()
			if err != nil {
				return err
			}
			defer results.Close()
			return trial.Serve(cmd.Context(), p.Stdin, results)
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "without a jail")
	cmd.Flags().StringVar(&version, "kubernetes-version", release.Latest, "judge as this `VERSION` does")
	return cmd
}

// Versions returns the minor versions of Kubernetes that can be imitated, the latest first.
func Versions() []string {
	all := release.Minors()
	slices.Reverse(all)
	return all
}

// run serves the page until ctx ends.
func run(ctx context.Context, p cli.Process, port int, browse bool) error {
	if p.Executable == "" {
		return errors.New("playground: the file of this program is not known, and no process can be started to judge")
	}
	judge := &page.Processes{Program: p.Executable, Args: []string{JudgeCommand}, BestEffort: true, Plain: []string{JudgeCommand, "--plain"}}
	defer judge.Close()
	if err := judge.Start(); err != nil {
		return err
	}
	site, err := page.New(page.Config{Judge: judge, Version: cli.Version(), Versions: Versions()})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("playground: %w; give another --port", err)
	}
	mux := http.NewServeMux()
	mux.Handle(page.Path, site.Handler())
	mux.Handle(page.Path+"/", site.Handler())
	mux.Handle("/{$}", http.RedirectHandler(page.Path, http.StatusSeeOther))
	server := &http.Server{Handler: local(listener.Addr().String(), mux), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	url := "http://" + listener.Addr().String() + page.Path
	_, _ = fmt.Fprintf(p.Stdout, "%s\n", url)
	_, _ = fmt.Fprintln(p.Stderr, "preadmit: the playground is at this address until Ctrl-C")
	if browse {
		openBrowser(p.Stderr, url)
	}
	if p.Lasting != nil {
		p.Lasting()
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("playground: %w", err)
	}
	return nil
}

// local refuses requests for other host names than the address or localhost. Other sites could
// reach the page by such names (DNS rebinding).
func local(address string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address && r.Host != net.JoinHostPort("localhost", port) {
			http.Error(w, "This page is at http://"+address+page.Path+".", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// openBrowser opens a page in a browser, if possible.
func openBrowser(stderr io.Writer, url string) {
	program := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	c := exec.Command(program[0], append(program[1:], url)...)
	if err := c.Start(); err != nil {
		_, _ = fmt.Fprintln(stderr, "preadmit: no browser could be opened; open the address yourself")
		return
	}
	go func() { _ = c.Wait() }()
}
