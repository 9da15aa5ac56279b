package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/hostile"
	"github.com/preadmit/preadmit/internal/testall"
)

// mostHostile is the maximum processor time of a scan of an attack without a jail.
const mostHostile = 100 * time.Second

// hostilePatience is how long to wait for a scan. It is longer, as the machine may be busy.
const hostilePatience = 5 * time.Minute

// TestHostile runs `preadmit scan` on some attacks: it ends in time with the exit code of the
// verdict, reports the attack, still has the other findings, and connects to nothing. The
// tests of webhooks/jailed/child scan all attacks.
func TestHostile(t *testing.T) { runHostile(t, hostile.Sample()) }

// TestHostileUnlimited runs the attacks whose verdict depends on a time limit that only a jail
// has. TestIsolatedFailures in render has a root that never ends.
func TestHostileUnlimited(t *testing.T) {
	testall.Long(t)
	runHostile(t, slices.DeleteFunc(hostile.Cases(), func(c hostile.Case) bool { return c.Unlimited == "" }))
}

func runHostile(t *testing.T, cases []hostile.Case) {
	t.Helper()
	program, err := exec.LookPath("preadmit")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			canary, err := hostile.NewCanary(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer canary.Close()
			pull, err := c.Make(filepath.Join(dir, "repository"), canary)
			if err != nil {
				t.Fatal(err)
			}
			scanHostile(t, program, &c, canary, pull)
		})
	}
}

func scanHostile(t *testing.T, program string, c *hostile.Case, canary *hostile.Canary, pull *hostile.Pull) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hostilePatience)
	defer cancel()
	saved := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(ctx, program, "scan", "--base", pull.Base, "--head", pull.Head, "-o", saved, pull.Dir)
	cmd.Env = append(os.Environ(), hostile.TokenVariable+"="+canary.Token)
	printed, err := cmd.CombinedOutput()
	code := cli.ExitClean
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); spent > mostHostile {
		t.Errorf("cost %v of processor time, more than %v", spent, mostHostile)
	}
	verdict, says := c.Verdict, c.Reports
	if c.Unlimited != "" {
		verdict, says = c.Unlimited, hostile.Finding
	}
	if want := map[string]int{"incomplete": cli.ExitIncomplete, "failed": cli.ExitFindings}[verdict]; code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	document, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	all := string(printed) + string(document)
	if !strings.Contains(all, says) || !strings.Contains(all, hostile.Finding) {
		t.Errorf("does not say %q and %q: %s", says, hostile.Finding, printed)
	}
	if unsafe := hostile.Unsafe(all); unsafe != "" {
		t.Errorf("printed %s", unsafe)
	}
	if reached := canary.Reached([]byte(all)); reached != "" {
		t.Error(reached)
	}
}
