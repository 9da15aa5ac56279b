package child

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/hostile"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// TestHostile checks that the scan of every attack, or of one of each kind, ends in time, reports it,
// still finds the other problems, and reaches nothing.
func TestHostile(t *testing.T) {
	cases := hostile.OfEachKind()
	if testall.Enabled() {
		cases = hostile.Cases()
	}
	scanHostile(t, cases)
}

// TestHostileAlone checks that attacks that cannot be judged do not pass if they are the only problem.
func TestHostileAlone(t *testing.T) {
	testall.Long(t)
	var alone []hostile.Case
	for _, c := range hostile.Cases() {
		if !c.Heavy && c.Verdict == "incomplete" {
			c.Alone = true
			alone = append(alone, c)
		}
	}
	scanHostile(t, alone)
}

func scanHostile(t *testing.T, cases []hostile.Case) {
	t.Helper()
	secret, err := hostile.NewCanary(t.TempDir()) // in the environment of all scans
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { secret.Close() })
	t.Setenv(hostile.TokenVariable, secret.Token)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if c.Heavy {
				testall.Long(t)
			}
			t.Parallel()
			canary, pull := attack(t, &c)
			canary.Token = secret.Token
			limits := jailed.Limits{Memory: 1500 << 20, Wall: 4 * time.Minute}
			if c.Heavy {
				limits.Memory = 0 // the service's default: several processes may approach their own limits at the same time
			}
			if c.Fatal {
				limits.Root = time.Second
			}
			s := testScanner(t, limits)
			start := time.Now()
			outcome, err := s.Scan(context.Background(), jailed.Request{Repository: pull.Dir, Base: pull.Base, Head: pull.Head, Diff: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, %d deaths %v", time.Since(start).Round(time.Millisecond), len(outcome.Died), outcome.Died)
			verify(t, &c, canary, outcome)
		})
	}
}

// attack creates the pull request of a case, and a canary for it.
func attack(t *testing.T, c *hostile.Case) (*hostile.Canary, *hostile.Pull) {
	t.Helper()
	dir := t.TempDir()
	canary, err := hostile.NewCanary(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { canary.Close() })
	pull, err := c.Make(filepath.Join(dir, "repository"), canary)
	if err != nil {
		t.Fatal(err)
	}
	return canary, pull
}

func verify(t *testing.T, c *hostile.Case, canary *hostile.Canary, outcome *jailed.Outcome) {
	t.Helper()
	r := outcome.Report
	if got := r.Verdict(outcome.FailOn, false); string(got) != c.Verdict {
		t.Errorf("verdict %s, want %s", got, c.Verdict)
	}
	var all bytes.Buffer
	for _, name := range format.Formats() {
		var page bytes.Buffer
		if err := format.Write(&page, name, r, format.Options{}); err != nil {
			t.Fatal(err)
		}
		if unsafe := hostile.Unsafe(page.String()); unsafe != "" && name != "github" {
			t.Errorf("%s has %s", name, unsafe)
		}
		_, _ = page.WriteTo(&all)
	}
	if !strings.Contains(all.String(), c.Reports) {
		t.Errorf("does not say %q: %s", c.Reports, summary(r))
	}
	if found := strings.Contains(all.String(), hostile.Finding); found == c.Alone {
		t.Errorf("says %q: %v: %s", hostile.Finding, found, summary(r))
	}
	if reached := canary.Reached(all.Bytes()); reached != "" {
		t.Error(reached)
	}
	if c.Fatal != (len(outcome.Died) > 0) {
		t.Errorf("children died: %+v", outcome.Died)
	}
	for _, d := range outcome.Died {
		if d.Root != "app" && !strings.HasPrefix(d.Root, "app/") {
			t.Errorf("blamed %q: %s", d.Root, d.Why)
		}
	}
}

func summary(r *report.Report) string {
	var b bytes.Buffer
	if err := errors.Join(format.Write(&b, "text", r, format.Options{})); err != nil {
		return err.Error()
	}
	return b.String()
}
