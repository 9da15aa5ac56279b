package scanner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// TestLines checks the line and related lines of each finding, for each way in which a value can be made. The
// files of an archive are below base/, head/ or both/, and `lines` is the expected result.
func TestLines(t *testing.T) {
	files, err := filepath.Glob("testdata/lines/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, report := scanArchive(t, file, archive, 0)
			got := describeLines(report)
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "lines" })
			if i < 0 {
				t.Fatal("no file named lines")
			}
			if *update {
				archive.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
				t.Errorf("lines (-want +got, rewrite with -update):\n%s", diff)
			}
		})
	}
}

// describeLines lists findings with the text of their lines, and all problems of the archive.
func describeLines(report *report.Report) string {
	out := []string{}
	for _, f := range report.Findings {
		line := fmt.Sprintf("%s %s/%s %s %s\n", f.Operation, f.Object.Kind, f.Object.Name, judgement(f), f.Status)
		line += "  " + describeLine(f.Location)
		for _, l := range f.Location.Related {
			line += "  " + l.Message + ": " + describeLine(l)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	for _, i := range report.Indeterminate {
		out = append(out, fmt.Sprintf("indeterminate: %s\n", i.Why))
	}
	for _, d := range remarks(report) {
		out = append(out, fmt.Sprintf("%s: %s\n", d.Severity, d.Message))
	}
	return strings.Join(out, "")
}

// judgement returns the validation that failed, or the message of the server.
func judgement(f report.Finding) string {
	if f.Validation == nil {
		return f.Message
	}
	return fmt.Sprintf("%s[%d]", f.Policy, *f.Validation)
}

func describeLine(l report.Location) string {
	text := ""
	if i := l.StartLine - l.SnippetLine; i >= 0 && i < len(l.Snippet) {
		text = l.Snippet[i]
	}
	exact := map[bool]string{true: " exact"}[l.Exact]
	return fmt.Sprintf("%s:%d %s%s | %s\n", l.Path, l.StartLine, l.Tree, exact, strings.TrimSpace(text))
}

// TestOriginsAreGivenUp checks that a scan does not keep the origins of each root with a finding, only those of
// the policies that decide: for a large repository they take several times the memory of everything else.
func TestOriginsAreGivenUp(t *testing.T) {
	head := strings.NewReplacer(
		"  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "", "  paramRef: {selector: {}, namespace: limits, parameterNotFoundAction: Deny}\n", "",
		"params == null || object.spec.replicas <= int(params.data.max)", "object.spec.replicas < 5",
	).Replace(policyAndObject) + "-- app/kustomization.yaml --\nresources: [web.yaml]\n"
	for i := range 4 {
		head += fmt.Sprintf("-- app%d/kustomization.yaml --\nresources: [../app]\nnamePrefix: app%[1]d-\n", i)
	}
	in := input("", head)
	findings := mustScan(t, in).Findings
	kept, err := scanner.KeptOrigins(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 4 || kept != 1 {
		t.Errorf("of %d roots with findings and one of policies, the origins of %d are kept", len(findings), kept)
	}
}

// TestDocumentsAreGivenUp checks the same for roots with objects that are not judged.
func TestDocumentsAreGivenUp(t *testing.T) {
	head := strings.NewReplacer(
		"  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "", "  paramRef: {selector: {}, namespace: limits, parameterNotFoundAction: Deny}\n", "",
		"params == null || object.spec.replicas <= int(params.data.max)", "object.spec.replicas < 5",
		"resourceRules:", "namespaceSelector: {matchLabels: {judged: \"true\"}}\n    resourceRules:",
	).Replace(policyAndObject) + "-- app/kustomization.yaml --\nresources: [web.yaml]\n" +
		"-- namespace/n.yaml --\n{apiVersion: v1, kind: Namespace, metadata: {name: app0, labels: {judged: \"true\"}}}\n"
	for i := range 4 {
		head += fmt.Sprintf("-- app%d/kustomization.yaml --\nresources: [../app]\nnamespace: app%[1]d\n", i)
	}
	in := input("", head)
	report := mustScan(t, in)
	kept, err := scanner.KeptOrigins(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) != 1 || len(report.Indeterminate) != 3 || kept != 1 {
		t.Errorf("of %d roots with findings, %d that are not judged and one of policies, the origins of %d are kept", len(report.Findings), len(report.Indeterminate), kept)
	}
	for _, i := range report.Indeterminate {
		if i.Location == nil || i.Location.Path != "app/web.yaml" || i.Location.StartLine != 1 {
			t.Errorf("%s is at %+v", i.Root, i.Location)
		}
	}
}
