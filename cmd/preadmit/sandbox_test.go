package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/sandbox"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// TestSandboxCompares: answers of a server are compared with those that a scan expects.
func TestSandboxCompares(t *testing.T) {
	denied := func(message string) policy.Verdict { return policy.Verdict{Code: 422, Message: message} }
	allowed := func(warnings ...string) policy.Verdict { return policy.Verdict{Allowed: true, Warnings: warnings} }
	for name, test := range map[string]struct {
		server, scan policy.Verdict
		denials      []policy.Verdict
		object       string
		want         bool
	}{
		"both allow":                     {server: allowed(), scan: allowed(), want: true},
		"warnings have no order":         {server: allowed("b", "a"), scan: allowed("a", "b"), want: true},
		"a warning less":                 {server: allowed("a"), scan: allowed("a", "b")},
		"the server denies":              {server: denied("no"), scan: allowed()},
		"the scan denies":                {server: allowed(), scan: denied("no")},
		"both deny":                      {server: denied("no"), scan: denied("no"), want: true},
		"in other words":                 {server: denied("no"), scan: denied("never")},
		"with another code":              {server: policy.Verdict{Code: 403, Message: "no"}, scan: denied("no")},
		"another of several denials":     {server: denied("b"), scan: denied("a"), denials: []policy.Verdict{denied("a"), denied("b")}, want: true},
		"a kind that nobody serves":      {server: policy.Verdict{Message: "no such kind"}, scan: denied("not served"), want: true},
		"a kind that the server has not": {server: policy.Verdict{Message: "no such kind"}, scan: allowed()},
		"a generated name":               {server: allowed("job sync-ab12c is late"), scan: allowed("job sync-zzzzz is late"), object: `{"generateName":"sync-"}`, want: true},
		"another generated name":         {server: allowed("job sync-ab12c is late"), scan: allowed("job back-zzzzz is late"), object: `{"generateName":"sync-"}`},
		"one of a generated name":        {server: denied(`"sync-ab12c" b`), scan: denied(`"sync-zzzzz" a`), denials: []policy.Verdict{denied(`"sync-zzzzz" b`)}, object: `{"generateName":"sync-"}`, want: true},
		"a name":                         {server: allowed("job sync-ab12c is late"), scan: allowed("job sync-zzzzz is late"), object: `{"name":"sync-ab12c","generateName":"sync-"}`},
	} {
		object := admission.ParseObject([]byte(`{"apiVersion":"batch/v1","kind":"Job","metadata":` + cmp.Or(test.object, "{}") + `}`))
		r := sandbox.Result{Applied: scanner.Applied{Object: object, Answer: test.scan, Denials: test.denials}, Answer: test.server}
		if got := r.Same(); got != test.want {
			t.Errorf("%s: same is %v, want %v", name, got, test.want)
		}
	}
}

// TestSandboxOutput: a refusal is written with the line of the finding that has the same message, and
// text of a repository is escaped for the terminal.
func TestSandboxOutput(t *testing.T) {
	found := func(message string, line int) report.Finding {
		return report.Finding{
			Object:  &report.Object{Kind: "Deployment", Namespace: "shop", Name: "web"},
			Message: message, Location: report.Location{Path: "web.yaml", StartLine: line},
		}
	}
	from := &scanner.Deployment{
		Report: &report.Report{Findings: []report.Finding{found("no tag", 3), found("no owner", 7)}},
		Unrendered: []scanner.Unrendered{
			{Root: "a", Location: report.Location{Path: "a/kustomization.yaml", StartLine: 2}, Why: "there is no\nbase"},
			{Root: "b", Location: report.Location{Path: "b"}, Why: "it is elsewhere", Partly: true, Judged: true},
		},
	}
	refused := func(namespace, message string) sandbox.Result {
		return sandbox.Result{Applied: scanner.Applied{
			Object: admission.ParseObject([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`)),
			Key:    admission.Key{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: "web"}, Root: "apps",
		}, Answer: policy.Verdict{Message: message}}
	}
	again := refused("shop", "")
	again.Again = true
	l := &sandbox.Loaded{
		Results: []sandbox.Result{
			refused("shop", "denied request: no owner"), refused("shop", "no\x1b[2J\nway"), refused("other", "no"), again,
		},
		Namespaces: []string{"shop"}, Admins: []string{"jane"},
	}
	var out bytes.Buffer
	l.Write(&out, from, false)
	want := `a/kustomization.yaml:2: there is no\nbase
b: it is elsewhere
preadmit: 1 root does not render, and nothing of them is loaded
preadmit: of 1 root only what renders is loaded
web.yaml:7: Deployment.apps/shop/web: denied request: no owner
web.yaml:3: Deployment.apps/shop/web: no\x1b[2J\nway
apps: Deployment.apps/other/web: no
preadmit: loaded 0 objects of 1 root; 3 objects above not
preadmit: left out 1 object that several roots define, but for the first: --target or --roots choose
preadmit: made 1 Namespace that nothing loaded defines: shop
preadmit: bound cluster-admin to 1 user without the rights to apply the objects: jane
`
	if out.String() != want {
		t.Errorf("it says\n%s\nwant\n%s", &out, want)
	}
}

// TestSandboxProgram: the server's program is searched for in absolute directories only, since a relative
// one on PATH may be in a work tree.
func TestSandboxProgram(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("bin", 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "bin", sandbox.Program)
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	find := func(path string) (string, error) {
		return sandbox.Find(cli.Process{Getenv: func(string) string { return path }})
	}
	if got, err := find("bin:./bin"); err == nil {
		t.Errorf("a relative directory has %s", got)
	}
	if got, err := find("bin:" + filepath.Dir(program)); got != program {
		t.Errorf("found %s, %v, want %s", got, err, program)
	}
}

// TestSandboxCommand: a command gets the server's kubeconfig and no other, and its exit code is that of preadmit.
func TestSandboxCommand(t *testing.T) {
	s := &sandbox.Server{Kubeconfig: "/run/kubeconfig"}
	for script, want := range map[string]int{"exit 7": 7, "kill -TERM $$": 128 + 15, "exit 0": 0} {
		var stdout bytes.Buffer
		p := cli.Process{Stdout: &stdout, Stderr: &stdout, Stdin: strings.NewReader("typed"), Environ: []string{"KUBECONFIG=mine", "HOME=/home/jane"}}
		err := s.Run(t.Context(), p, []string{"/bin/sh", "-c", "cat; echo \" $KUBECONFIG $HOME\"; " + script})
		ended := new(cli.CommandError)
		if errors.As(err, &ended) != (want != 0) || ended.Code != want || cli.ExitCode(&stdout, err) != want {
			t.Errorf("%s ends with %v, want %d", script, err, want)
		}
		if got := stdout.String(); got != "typed /run/kubeconfig /home/jane\n" {
			t.Errorf("%s wrote %q", script, got)
		}
	}
}
