package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
)

// versioned writes a tree of web servers that a policy denies, in plain manifests and in a kustomization. It
// returns a function that scans the tree as the servers of some versions do.
func versioned(t *testing.T) (scan func(program string, versions ...string) *report.Report) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 9\n  selector: {matchLabels: {app: web}}\n" +
		"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: 'web:1'}]}\n"
	write("tree/plain/web.yaml", web)
	write("tree/built/web.yaml", web)
	write("tree/plain/small.yaml", strings.NewReplacer("name: web, namespace", "name: small, namespace", "replicas: 9", "replicas: 1").Replace(web))
	write("tree/built/kustomization.yaml", "resources: [web.yaml]\nnamePrefix: a-\n")
	write("tree/policies/p.yaml", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n"+
		"  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}\n"+
		"  validations:\n  - expression: object.spec.replicas < 5\n---\n"+
		"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: p}\nspec: {policyName: p, validationActions: [Deny]}\n")
	return func(program string, versions ...string) *report.Report {
		t.Helper()
		targets := ""
		for _, v := range versions {
			targets += fmt.Sprintf("- {name: v%s, roots: ['**'], kubernetesVersion: '%s'}\n", strings.ReplaceAll(v, ".", "-"), v)
		}
		config := write("config.yaml", "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\ntargets:\n"+targets)
		var out, said bytes.Buffer
		args := []string{"scan", "-q", "--format", "json", "--config", config, filepath.Join(dir, "tree")}
		code := Main(t.Context(), args, cli.Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }, Executable: program, Args: args,
		})
		r := new(report.Report)
		if err := json.Unmarshal(out.Bytes(), r); code != cli.ExitFindings || err != nil {
			t.Fatalf("exit code %d, %v: %s", code, err, &said)
		}
		return r
	}
}

// theProgram makes the test binary run as preadmit: processes share results only if they run the same file.
const theProgram = "PREADMIT_TEST_PROGRAM"

// between returns a program that runs a shell command in the directory that processes of several versions share, and
// then runs preadmit.
func between(t *testing.T, command string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "preadmit")
	// A part begins when it reads a byte.
	text := "#!/bin/sh\nexport " + theProgram + "=1\nif [ \"$1\" = part ]; then\n" +
		"  shared=$(printf %s \"$2\" | sed -n 's/.*\"shared\":\"\\([^\"]*\\)\".*/\\1/p')\n" +
		"  dd bs=1 count=1 > /dev/null 2>&1\n  " + command + "\n  { echo; cat; } | '" + program + "' \"$@\"\n  exit\nfi\nexec '" + program + "' \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return script
}

// places returns the places of the findings of a report, with their versions.
func places(r *report.Report) (all []string) {
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s:%d %s", f.Location.Path, f.Location.StartLine, strings.Join(f.Kubernetes, " ")))
	}
	slices.Sort(all)
	return all
}

// TestVersionsShareAnswers: the processes of several versions use the origins of objects from the first one. If the
// test changes the origins in between, the later processes report the changed ones.
func TestVersionsShareAnswers(t *testing.T) {
	scan := versioned(t)
	got := places(scan(between(t, `[ -s "$shared/answers" ] && LC_ALL=C sed -i 's/web\.yaml/wxb.yaml/g' "$shared/answers"`), "1.35", "1.36"))
	want := []string{"built/web.yaml:5 v1.36.3", "built/wxb.yaml:5 v1.35.0", "plain/web.yaml:5 v1.36.3", "plain/wxb.yaml:5 v1.35.0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// TestVersionsShareEvaluations: they also use its evaluations without findings. If the test changes the number of
// validations, the later processes count the changed number.
func TestVersionsShareEvaluations(t *testing.T) {
	scan := versioned(t)
	count := func(command string) int { return scan(between(t, command), "1.35", "1.36").Summary.Evaluations }
	if got := count(":"); got != 6 {
		t.Errorf("%d evaluations of three objects as two versions, want 6", got)
	}
	if got := count(`[ -s "$shared/settled" ] && printf '\007' | dd of="$shared/settled" bs=1 seek=72 conv=notrunc 2> /dev/null`); got != 5+7 {
		t.Errorf("%d evaluations where one counts as 7, want 12", got)
	}
}

// TestVersionsShareDecoded: they also use the objects that it decoded. If the test changes the names of
// containers, the later processes refuse the changed ones.
func TestVersionsShareDecoded(t *testing.T) {
	scan := versioned(t)
	if got := len(scan(between(t, ":"), "1.35", "1.36").Findings); got != 2 {
		t.Errorf("%d findings, want 2", got)
	}
	changed := scan(between(t, `[ -s "$shared/decoded" ] && LC_ALL=C sed -i 's/web\(..web:1\)/WEB\1/g' "$shared/decoded"`), "1.35", "1.36")
	refused := 0
	for _, f := range changed.Findings {
		if f.Cause == report.CauseSchema && slices.Equal(f.Kubernetes, []string{"v1.35.0"}) {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d objects with the changed names are refused, want 3", refused)
	}
}

// TestVersionsTogether: a scan of several versions has the same findings for each as a scan of that version alone.
func TestVersionsTogether(t *testing.T) {
	scan := versioned(t)
	program := between(t, ":")
	versions := []string{"1.33", "1.34", "1.35", "1.36"}
	together := scan(program, versions...)
	for _, v := range versions {
		alone := scan(program, v)
		for i := range alone.Findings {
			f := &alone.Findings[i]
			f.Kubernetes = nil
			same := slices.ContainsFunc(together.Findings, func(other report.Finding) bool {
				other.Kubernetes = nil
				return cmp.Equal(other, *f)
			})
			if !same {
				t.Errorf("as %s alone: %s:%d %s", v, f.Location.Path, f.Location.StartLine, f.Message)
			}
		}
	}
	if len(together.Findings) != 2 {
		t.Errorf("%d findings: %v", len(together.Findings), places(together))
	}
}

// TestPartAwaits: a process does its part of a command when it gets the signal, and otherwise ends.
func TestPartAwaits(t *testing.T) {
	spec, err := json.Marshal(cli.Part{Release: emulation.Current()})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for stdin, judges := range map[string]bool{"": false, "\n": true} {
		var out, said bytes.Buffer
		args := []string{"part", string(spec), "scan", dir}
		code := Main(t.Context(), args, cli.Process{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }})
		if code != cli.ExitClean || out.Len() > 0 != judges {
			t.Errorf("with %q on its standard input: exit code %d, %q, %s", stdin, code, &out, &said)
		}
	}
}
