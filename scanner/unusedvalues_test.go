package scanner_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestUnusedValues checks the note about values of a chart that change although no release uses them. Values that
// a release uses, the chart's own, those of ci/ and those that stay as they are have none.
func TestUnusedValues(t *testing.T) {
	chart := map[string]string{
		"web/Chart.yaml":           "{apiVersion: v2, name: web, version: 1.0.0}",
		"web/values.yaml":          "a: 1",
		"web/ci/small-values.yaml": "a: 1",
		"web/values-prod.yaml":     "a: 1",
		"web/env/eu.values.yml":    "a: 1",
		"web/charts/values.yaml":   "a: 1",
		"web/templates/c.yaml":     "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: \"{{ .Values.a }}\"}}",
		"web/templates/values.txt": "a: 1",
	}
	const application = `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web, namespace: argocd}, spec: {
project: default, destination: {server: "https://kubernetes.default.svc", namespace: web},
source: {repoURL: "https://git.example.com/a/b", path: web, helm: {valueFiles: [values-prod.yaml]}}}}`
	tree := func(changes ...map[string]string) scanner.Tree {
		files := fstest.MapFS{}
		for _, texts := range append([]map[string]string{chart}, changes...) {
			for name, text := range texts {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		return scanner.Tree{FS: files}
	}
	note := func(file string) string {
		return file + ":1: no release of the repository uses these values of the chart in web, so nothing is judged with them; list the release under charts in .preadmit.yaml"
	}
	for _, test := range []struct {
		name          string
		both, changed map[string]string
		config        config.Config
		want          []string
	}{
		{
			name: "values of an environment", changed: map[string]string{"web/values-prod.yaml": "a: 2", "web/env/eu.values.yml": "a: 2"},
			want: []string{note("web/env/eu.values.yml"), note("web/values-prod.yaml")},
		},
		{name: "new values", changed: map[string]string{"web/values-dev.yaml": "a: 2"}, want: []string{note("web/values-dev.yaml")}},
		{name: "values that are judged", changed: map[string]string{"web/values.yaml": "a: 2", "web/ci/small-values.yaml": "a: 2"}},
		{name: "other files", changed: map[string]string{"web/charts/values.yaml": "a: 2", "web/templates/values.txt": "a: 2"}},
		{
			name: "a configured release", changed: map[string]string{"web/values-prod.yaml": "a: 2"},
			config: config.Config{Charts: []config.Chart{{Path: "web", Values: []string{"web/values-prod.yaml"}}}},
		},
		{
			name: "an Application", both: map[string]string{"app.yaml": application}, changed: map[string]string{"web/values-prod.yaml": "a: 2"},
			config: config.Config{Self: []string{"https://git.example.com/a/b"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, head := tree(test.both), tree(test.both, test.changed)
			r, err := scanner.Scan(t.Context(), scanner.Input{Base: &base, Head: head, Config: test.config})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range r.Diagnostics {
				if strings.Contains(d.Message, "uses these values") {
					got = append(got, fmt.Sprintf("%s:%d: %s", d.Location.Path, d.Location.StartLine, d.Message))
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
