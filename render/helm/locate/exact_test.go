package locate_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// TestExact checks when the line of a value is exact: when the whole release accepts another value, and the
// field changes with it. The line itself is the same in both cases.
func TestExact(t *testing.T) {
	const (
		object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
		schema = `{"properties": {"tier": `
	)
	for name, test := range map[string]struct {
		files     map[string]string
		user      map[string]any
		patch     string
		evidence  origin.Evidence
		unchecked bool
	}{
		"taken":                       {evidence: origin.Marked},
		"another template refuses it": {files: map[string]string{"templates/b.yaml": `{{ if ne .Values.tier "front1" }}{{ fail "no such tier" }}{{ end }}`}, evidence: origin.Inferred},
		"notes refuse it":             {files: map[string]string{"templates/NOTES.txt": `{{ if ne .Values.tier "front1" }}{{ fail "no such tier" }}{{ end }}`}, evidence: origin.Inferred},
		"a later template refuses it": {files: map[string]string{"templates/0.yaml": `{{ if ne .Values.tier "front1" }}{{ fail "no such tier" }}{{ end }}`}, evidence: origin.Inferred},
		"the schema sees no changes": {files: map[string]string{
			"values.schema.json": schema + `{"type": "string"}}}`,
			"templates/a.yaml":   object + "data: {tier: \"{{ .Values.tier }}{{ $_ := set .Values `tier` 1 }}\"}",
		}, evidence: origin.Marked},
		"another document is no YAML":   {files: map[string]string{"templates/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n" + `x: {{ if ne .Values.tier "front1" }}[{{ end }}`}, evidence: origin.Inferred},
		"another document is no object": {files: map[string]string{"templates/b.yaml": `{{ if ne .Values.tier "front1" }}- a{{ end }}`}, evidence: origin.Inferred},
		"the schema takes digits":       {files: map[string]string{"values.schema.json": schema + `{"pattern": "^front[0-9]$"}}}`}, evidence: origin.Marked},
		"the schema takes nothing else": {files: map[string]string{"values.schema.json": schema + `{"const": "front1"}}}`}, evidence: origin.Inferred},
		"the schema is not asked":       {files: map[string]string{"values.schema.json": schema + `{"const": "front1"}}}`}, unchecked: true, evidence: origin.Marked},
		"the default is taken": {files: map[string]string{"values.schema.json": schema + `{"enum": ["front1", "back"]}}}`, "values.yaml": "tier: back"},
			user: map[string]any{"tier": "front1"}, evidence: origin.Marked},
		"a part of the chart needs it": {files: map[string]string{
			"Chart.yaml":                      "{apiVersion: v2, name: app, version: 1.0.0, dependencies: [{name: part, version: 1.0.0, condition: used}]}",
			"charts/part/Chart.yaml":          "{apiVersion: v2, name: part, version: 1.0.0}",
			"charts/part/templates/_part.tpl": `{{ define "part" }}{{ end }}`,
			"values.yaml":                     "used: true", "templates/a.yaml": object + "data: {tier: \"{{ .Values.used }}\"}",
			"templates/b.yaml": `{{ include "part" . }}`,
		}, evidence: origin.Inferred},
		"a post-renderer sets the same": {patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {tier: front1}}", evidence: origin.Inferred},
		"a post-renderer sets another":  {patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {more: front1}}", evidence: origin.Marked},
	} {
		fsys := fstest.MapFS{}
		for _, files := range []map[string]string{
			{"Chart.yaml": "{apiVersion: v2, name: app, version: 1.0.0}", "values.yaml": "tier: front1", "templates/a.yaml": object + "data: {tier: \"{{ .Values.tier }}\"}"}, test.files,
		} {
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), ".", chart.Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		capabilities, err := values.Capabilities("", nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &release.Release{
			Chart: release.NewChart(c), Values: test.user, Capabilities: capabilities, SkipSchema: test.unchecked,
			Release: values.Release{Name: "app", Namespace: "shop"},
		}
		if test.patch != "" {
			r.PostRenderers = []release.PostRenderer{{Patches: []fluxtypes.Patch{{Patch: test.patch}}}}
		}
		rendered, err := r.Once(t.Context())
		if err != nil {
			t.Fatal(name, err)
		}
		at := slices.IndexFunc(rendered.Objects, func(o *release.Object) bool { return o.File == "app/templates/a.yaml" })
		tracer := locate.New(t.Context(), locate.Traced{
			Release: r, Objects: rendered.Objects, Chart: rendered.Chart,
			Written: func(*locate.Leaf) (origin.Place, bool) {
				return origin.Place{Position: tree.Position{Path: "values", Line: 1}, Evidence: origin.Marked}, true
			},
		})
		value, _ := origin.Field(rendered.Objects[at].Document.Content(), "data.tier")
		if place := tracer.Place(at, "data.tier", origin.Whole, value, true); place.Path != "values" || place.Evidence != test.evidence {
			t.Errorf("%s: at %s, evidence %d, want %d", name, place.Position, place.Evidence, test.evidence)
		}
	}
}
