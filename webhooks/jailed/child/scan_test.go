package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/preadmit/preadmit/internal/hostile"
	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// pullOf creates a pull request with some files.
func pullOf(t *testing.T, head func(*hostile.Tree)) *hostile.Pull {
	t.Helper()
	c := &hostile.Case{Head: func(tree *hostile.Tree, _ *hostile.Canary) { head(tree) }}
	pull, err := c.Make(filepath.Join(t.TempDir(), "repository"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return pull
}

func requestOf(p *hostile.Pull) jailed.Request {
	return jailed.Request{Repository: p.Dir, Base: p.Base, Head: p.Head, BaseName: "main", HeadName: "pull", Version: "v1"}
}

const (
	// zoned needs the time zones of the system, or those in the program.
	zoned = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {schedule: "* * * * *", timeZone: Europe/Berlin,
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}
`
	// schema is for a root that is rendered in a process of its own, inside of the jail.
	schema = `{"definitions": {"v1.Thing": {
  "properties": {"list": {"items": {"type": "object"}, "type": "array",
    "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}},
  "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Thing", "version": "v1"}]}}}`
)

// TestRemotes checks that the child recognizes the repository's URL in a source of Flux, although the
// repository that it reads has no remotes.
func TestRemotes(t *testing.T) {
	unit := func(name, path, source string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + name + ", namespace: flux-system}, " +
			"spec: {path: " + path + ", prune: true, sourceRef: {kind: GitRepository, name: " + source + "}}}\n"
	}
	p := pullOf(t, func(tree *hostile.Tree) {
		tree.Put("c/flux-system/gotk-sync.yaml", unit("flux-system", "./c", "flux-system"))
		tree.Put("c/apps.yaml", unit("apps", "./apps", "again")+
			"---\n{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: again, namespace: flux-system}, spec: {url: ssh://git@github.com/octo/shop}}\n")
		tree.Put("apps/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n")
	})
	request := requestOf(p)
	for remote, want := range map[string]bool{"https://github.com/octo/shop.git": true, "https://github.com/octo/other": false} {
		request.Remotes = []string{remote}
		got, err := testScanner(t, jailed.Limits{}).Scan(context.Background(), request, nil)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := slices.ContainsFunc(got.Report.Indeterminate, func(i report.Indeterminate) bool { return strings.Contains(i.Why, "is not this repository") })
		if elsewhere == want {
			t.Errorf("%s: %v", remote, got.Report.Indeterminate)
		}
	}
}

// TestSameReport checks that the jail does not change the report.
func TestSameReport(t *testing.T) {
	p := pullOf(t, func(tree *hostile.Tree) {
		tree.Put("cron/job.yaml", zoned)
		tree.Put("custom/kustomization.yaml", "resources: [thing.yaml]\nopenapi: {path: schema.json}\npatches: [{path: patch.yaml}]\n")
		tree.Put("custom/schema.json", schema)
		tree.Put("custom/thing.yaml", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, list: [{name: one, n: 1}, {name: two}]}\n")
		tree.Put("custom/patch.yaml", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, list: [{name: one, n: 2}]}\n")
	})
	request := requestOf(p)
	request.Diff = true
	stages := []string{}
	got, err := testScanner(t, jailed.Limits{}).Scan(context.Background(), request, func(stage string, done, total int) {
		if done < 0 || done > total {
			t.Errorf("%s: %d of %d", stage, done, total)
		}
		stages = append(stages, stage)
	})
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := job{Request: request}
	want, failOn, err := j.scan(context.Background(), &sender{out: os.NewFile(^uintptr(0), "nowhere")}, isolate.Program(program, "render-root"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Report, cmpopts.IgnoreTypes(report.Durations{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-outside +jail) %s", diff)
	}
	if got.FailOn != failOn || len(got.Died) != 0 {
		t.Errorf("outcome %+v", got)
	}
	if want.Summary.Roots.Rendered < 4 || len(want.Findings) == 0 || want.Changes == nil {
		t.Errorf("not much of a report: %+v", want.Summary)
	}
	if len(stages) == 0 || stages[len(stages)-1] != "prove" { // others may be skipped
		t.Errorf("was told of %q, and not of the last one", stages)
	}
	for _, stage := range stages {
		if !slices.Contains([]string{"discover", "render head", "render base", "judge", "locate", "prove"}, stage) {
			t.Errorf("was told of %q", stage)
		}
	}
}

// TestConfiguration checks that the base's configuration is used, and that its mistakes are InputErrors.
func TestConfiguration(t *testing.T) {
	config := "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nfailOn: indeterminate\n"
	p := pullOf(t, func(tree *hostile.Tree) { tree.Put(".preadmit.yaml", config) })
	s := testScanner(t, jailed.Limits{})
	request := requestOf(p)
	outcome, err := s.Scan(context.Background(), request, nil)
	if err != nil || outcome.FailOn != "" && outcome.FailOn != "deny" {
		t.Errorf("the head's configuration is in force: %+v, %v", outcome, err)
	}
	request.Base, request.Head = p.Head, p.Head
	if outcome, err = s.Scan(context.Background(), request, nil); err != nil || outcome.FailOn != "indeterminate" {
		t.Errorf("the base's configuration is not in force: %+v, %v", outcome, err)
	}
	broken := pullOf(t, func(tree *hostile.Tree) { tree.Put(".preadmit.yaml", config+"\x1b[2J: 1\nrots: []\n") })
	_, err = s.Scan(context.Background(), jailed.Request{Repository: broken.Dir, Head: broken.Head}, nil)
	mistake := new(jailed.InputError)
	if !errors.As(err, &mistake) || !strings.Contains(mistake.Message, ".preadmit.yaml") || strings.Contains(mistake.Message, "\x1b") {
		t.Errorf("error %v", err)
	}
}

// TestCulprit checks that a root that takes too much memory is found among others, left out and named,
// and that the rest is judged.
func TestCulprit(t *testing.T) {
	p := pullOf(t, func(tree *hostile.Tree) {
		hostile.Hungry(tree, "hungry-a")
		hostile.Hungry(tree, "hungry-b")
	})
	s := testScanner(t, jailed.Limits{Memory: 140 << 20, Workers: 4, Wall: 2 * time.Minute})
	outcome, err := s.Scan(context.Background(), requestOf(p), nil)
	if err != nil {
		t.Fatal(err)
	}
	var roots []string
	for _, d := range outcome.Died {
		t.Logf("%+v", d)
		if d.Root != "" {
			roots = append(roots, d.Root)
		}
		if !d.Limit || !strings.Contains(d.Why, "140 MiB of memory") {
			t.Errorf("death %+v", d)
		}
	}
	slices.Sort(roots)
	if diff := cmp.Diff([]string{"hungry-a", "hungry-b"}, roots); diff != "" {
		t.Fatalf("roots at fault (-want +got) %s", diff)
	}
	r := outcome.Report
	if got := r.Verdict(outcome.FailOn, false); got != report.VerdictIncomplete || r.Summary.Roots.Lost != 2 {
		t.Errorf("verdict %s, %+v", got, r.Summary.Roots)
	}
	if len(r.Findings) != 1 || r.Findings[0].Message != hostile.Finding {
		t.Errorf("findings %+v", r.Findings)
	}
	for _, i := range r.Indeterminate {
		if !strings.HasPrefix(i.Why, "the process that rendered it took more than the 140 MiB") || i.Location.Path != i.Root+"/kustomization.yaml" {
			t.Errorf("indeterminate %+v", i)
		}
	}
}

// TestGivenUp checks that the error of a scan that cannot be completed names the stage.
func TestGivenUp(t *testing.T) {
	p := pullOf(t, func(tree *hostile.Tree) {
		hostile.Hungry(tree, "hungry-a")
		hostile.Hungry(tree, "hungry-b")
		hostile.Hungry(tree, "hungry-c")
		hostile.Slow(tree, "slow")
	})
	for name, test := range map[string]struct {
		limits jailed.Limits
		tries  int
		why    string
	}{
		"no more retries":   {jailed.Limits{Memory: 140 << 20, Workers: 1, Retries: 1}, 2, "memory"},
		"no memory at all":  {jailed.Limits{Memory: 2 << 20, Workers: 1}, 1, "memory"},
		"no time":           {jailed.Limits{Wall: 300 * time.Millisecond, Root: time.Minute, Workers: 1}, 1, "took longer than the 300ms"},
		"no processor time": {jailed.Limits{CPU: time.Second, Workers: 1, Retries: -1}, 1, "processor time"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			outcome, err := testScanner(t, test.limits).Scan(context.Background(), requestOf(p), nil)
			death := new(jailed.DeathError)
			if !errors.As(err, &death) || !strings.Contains(death.Why, test.why) || !death.Limit || death.Tries > test.tries {
				t.Errorf("outcome %+v, error %v", outcome, err)
			}
			t.Log(err, time.Since(start))
		})
	}
}

// TestCancelled checks that no process is left shortly after a scan was cancelled.
func TestCancelled(t *testing.T) {
	p := pullOf(t, func(tree *hostile.Tree) {
		for i := range 20 {
			hostile.Hungry(tree, fmt.Sprintf("h%d", i))
		}
	})
	superseded := errors.New("superseded")
	ctx, cancel := context.WithCancelCause(context.Background())
	var cancelled time.Time
	_, err := testScanner(t, jailed.Limits{}).Scan(ctx, requestOf(p), func(stage string, done, _ int) {
		if stage == "render head" && cancelled.IsZero() {
			cancelled = time.Now()
			cancel(superseded)
		}
	})
	if !errors.Is(err, superseded) {
		t.Fatalf("error %v", err)
	}
	if took := time.Since(cancelled); took > time.Second {
		t.Errorf("ended %v later", took)
	}
}

// TestUnavailable checks that there is no scan without a jail.
func TestUnavailable(t *testing.T) {
	s := testScanner(t, jailed.Limits{})
	s.Args = []string{"-test.run=^$"} // a program that does not enter the jail
	_, err := s.Scan(context.Background(), jailed.Request{Repository: t.TempDir(), Head: strings.Repeat("a", 40)}, nil)
	unavailable := new(jail.UnavailableError)
	if !errors.As(err, &unavailable) {
		t.Errorf("error %v", err)
	}
	s = testScanner(t, jailed.Limits{})
	_, err = s.Scan(context.Background(), jailed.Request{Repository: "/no/such/repository", Head: strings.Repeat("a", 40)}, nil)
	if err == nil || !strings.Contains(err.Error(), "/no/such/repository") {
		t.Errorf("error %v", err)
	}
}
