package child

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/hostile"
	"github.com/preadmit/preadmit/internal/outside"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/webhooks/artifacts"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

const remotePod = "{apiVersion: v1, kind: Pod, metadata: {name: remote}, spec: {containers: [{name: a, image: nginx}]}}\n"

// elsewhere has two git repositories, one of which refers to a file, and a fetcher of a service.
type elsewhere struct {
	*outside.World
	t    *testing.T
	opts fetch.Options
	dir  string // for the service's artifacts
}

func newElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	root := t.TempDir()
	for name, files := range map[string]map[string]string{
		"org/base":  {"kustomization.yaml": "resources: [pod.yaml, 'https://files.example.com/more.yaml']\n", "pod.yaml": remotePod},
		"org/other": {"kustomization.yaml": "resources: [pod.yaml]\n", "pod.yaml": strings.ReplaceAll(remotePod, "remote", "other")},
	} {
		if _, err := gittest.NewHistory(filepath.Join(root, name), files, map[string]string{"a": "b"}, map[string]string{"c": "d"}); err != nil {
			t.Fatal(err)
		}
	}
	backend, err := gittest.Backend(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &elsewhere{World: outside.New(), t: t, dir: filepath.Join(t.TempDir(), "artifacts")}
	w.AddGit("git.example.com", backend)
	w.AddFile("files.example.com", "/more.yaml", []byte(strings.ReplaceAll(remotePod, "remote", "more")))
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.CA)
	w.opts = fetch.Options{RootCAs: pool, Dial: w.Dial}
	return w
}

const remote = "https://git.example.com/org/base?ref=main"

// lock returns the lock for what remote refers to.
func (w *elsewhere) lock() string {
	w.t.Helper()
	client, l := fetch.New(store.Open(w.t.TempDir()), w.opts), &lock.Lock{}
	for _, a := range []artifact.Artifact{
		{Kind: artifact.Git, URL: "https://git.example.com/org/base", Version: "main"}, {Kind: artifact.File, URL: "https://files.example.com/more.yaml"},
	} {
		pin, err := client.Resolve(context.Background(), a)
		if err != nil {
			w.t.Fatal(err)
		}
		l.Set(a, pin)
	}
	return string(l.Encode())
}

// scan scans a change from some files to others, and returns the report as JSON, and the requested
// artifacts.
func (w *elsewhere) scan(owner string, base, head map[string]string) (*report.Report, string, []string) {
	w.t.Helper()
	h := &gittest.History{Dir: w.t.TempDir()}
	if _, err := h.Git("init", "-q", "-b", "main", h.Dir); err != nil {
		w.t.Fatal(err)
	}
	pull := &hostile.Pull{Dir: h.Dir}
	var err error
	if pull.Base, err = h.Commit(base); err == nil {
		pull.Head, err = h.Commit(head)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	before := len(w.Requests())
	s := testScanner(w.t, jailed.Limits{})
	s.Fetcher = artifacts.New(artifacts.Config{Dir: w.dir, Options: w.opts})
	request := requestOf(pull)
	request.Owner = owner
	outcome, err := s.Scan(context.Background(), request, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(outcome.Died) > 0 {
		w.t.Errorf("died: %+v", outcome.Died)
	}
	outcome.Report.Summary.Durations = report.Durations{}
	var text strings.Builder
	if err := format.Write(&text, "json", outcome.Report, format.Options{}); err != nil {
		w.t.Fatal(err)
	}
	return outcome.Report, text.String(), w.Requests()[before:]
}

// TestOutside checks that the parent fetches what the base has locked for a jailed scan, and nothing
// else.
func TestOutside(t *testing.T) {
	w := newElsewhere(t)
	locked := map[string]string{lock.FileName: w.lock(), "app/kustomization.yaml": "resources: ['" + remote + "']\n"}
	suffix := map[string]string{"app/kustomization.yaml": "nameSuffix: -x\nresources: ['" + remote + "']\n"}
	first, cold, asked := w.scan("octo", locked, suffix)
	// Two requests each, since the old name is deleted. The artifacts that the remote base refers to
	// are requested in a second round.
	if first.Summary.Requests != 4 || len(first.Indeterminate) != 0 || len(asked) < 3 {
		t.Errorf("%d requests, asked for %q: %v", first.Summary.Requests, asked, first.Indeterminate)
	}
	_, warm, asked := w.scan("octo", locked, suffix)
	if len(asked) > 0 {
		t.Errorf("asked again for %q", asked)
	}
	if withoutCommits(cold) != withoutCommits(warm) {
		t.Errorf("what is there already makes another report:\n%s\n%s", cold, warm)
	}
	damage(t, w.dir)
	other := "resources: ['https://git.example.com/org/other?ref=main']\n"
	suffix["more/kustomization.yaml"] = other
	got, text, asked := w.scan("octo", locked, suffix)
	if got.Summary.Requests != 4 || !strings.Contains(text, "and its configuration does not allow the URL") {
		t.Errorf("with a damaged cache, and what is new: %s", text)
	}
	if !slices.ContainsFunc(asked, contains("/org/base")) || slices.ContainsFunc(asked, contains("/org/other")) {
		t.Errorf("asked for %q", asked)
	}
	locked[".preadmit.yaml"] = "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nartifacts: {allow: ['https://git.example.com/org/*']}\n"
	suffix["gone/kustomization.yaml"] = strings.ReplaceAll(other, "main", "gone")
	got, text, _ = w.scan("octo", locked, suffix)
	if got.Summary.Requests != 5 || !strings.Contains(text, "was fetched and is in no lock that counts") || !strings.Contains(text, `there is no branch or tag \"gone\"`) {
		t.Errorf("what is allowed: %s", text)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func contains(part string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

// withoutCommits returns a report without the names of commits, which depend on the time.
func withoutCommits(report string) string {
	return regexp.MustCompile(`"[0-9a-f]{40}"`).ReplaceAllString(report, "COMMIT")
}

// damage overwrites every file of a store.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if err := os.WriteFile(name, []byte(fmt.Sprint("damaged ", name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
