package render_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

// TestDisguisedManifests checks that what deployers of a directory take for an object is judged, or reported as not
// judged.
func TestDisguisedManifests(t *testing.T) {
	const pod = "metadata: {name: p}\nspec: {containers: [{name: c, image: x}]}\n"
	const twice = "metadata: {name: p}\n"
	binary := func(text string) string { return "!!binary " + base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, c := range map[string]struct {
		file, text string
		// objects is the number of judged objects, problem why nothing is judged, told the severity of the only
		// diagnostic, if there is one.
		objects int
		problem render.ProblemKind
		told    render.Severity
	}{
		"escaped keys":            {"a.yaml", `"api\u0056ersion": v1` + "\n" + `"k\x69nd": Pod` + "\n" + pod, 1, "", ""},
		"escaped keys in JSON":    {"a.json", `{"\u0061piVersion": "v1", "\u006bind": "Pod", "metadata": {"name": "p"}}`, 1, "", ""},
		"joined lines":            {"a.yaml", "? \"api\\\n  Version\"\n: v1\nkind: Pod\n" + pod, 1, "", ""},
		"binary keys":             {"a.yaml", binary("apiVersion") + ": v1\n" + binary("kind") + ": Pod\n" + pod, 1, "", ""},
		"UTF-16":                  {"a.yaml", wide("apiVersion: v1\nkind: Pod\n" + pod), 0, render.ProblemRefused, render.SeverityError},
		"UTF-16 of values":        {"a.yaml", wide("replicas: 1\n"), 0, "", ""},
		"Git LFS":                 {"a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", 0, render.ProblemRefused, render.SeverityError},
		"Git LFS of data":         {"a.json", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", 0, "", render.SeverityWarning},
		"key twice":               {"a.yaml", "apiVersion: v1\nkind: Pod\n" + twice + pod, 0, render.ProblemFailed, render.SeverityError},
		"braces in a comment":     {"a.yaml", "# {{ x }}\napiVersion: v1\nkind: Pod\n" + twice + pod, 0, render.ProblemFailed, render.SeverityError},
		"key twice in flow":       {"a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}, metadata: {name: p}}", 0, render.ProblemFailed, render.SeverityError},
		"key twice, indented":     {"a.yaml", " apiVersion: v1\n kind: Pod\n metadata: {name: p}\n metadata: {name: p}\n", 0, render.ProblemFailed, render.SeverityError},
		"key twice, quoted":       {"a.yaml", "\"apiVersion\": v1\n\"kind\": Pod\n" + twice + pod, 0, render.ProblemFailed, render.SeverityError},
		"key twice, not ours":     {"a.yaml", "replicas: 1\nreplicas: 2\nkind: [apiVersion]\n", 0, "", ""},
		"object on a separator":   {"a.yaml", "--- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n", 0, render.ProblemFailed, render.SeverityError},
		"template":                {"a.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Name }}\n{{ end }}\n", 0, "", render.SeverityWarning},
		"template on separator":   {"a.yaml", "--- {{ if .x }}\napiVersion: v1\nkind: Pod\n" + pod, 0, "", render.SeverityWarning},
		"documents in JSON":       {"a.json", "apiVersion: v1\nkind: ConfigMap\n---\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}", 2, "", ""},
		"JSON, then YAML":         {"a.yaml", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}\n---\napiVersion: v1\nkind: Pod\n", 2, "", ""},
		"stream of JSON":          {"a.yaml", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}", 3, "", ""},
		"stream of broken JSON":   {"a.yaml", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}\n{}\n{", 0, render.ProblemFailed, render.SeverityError},
		"JSON that YAML is not":   {"a.yaml", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\ud83d\ude00"}}`, 1, "", ""},
		"key twice in JSON":       {"a.yaml", `{"apiVersion": "v1", "kind": "Pod", "kind": "ConfigMap"}`, 1, "", ""},
		"items of anything":       {"a.yaml", "apiVersion: v1\nkind: ConfigMap\nitems: [{apiVersion: v1, kind: Pod}, {metadata: {name: a}}]", 2, "", ""},
		"items that are no list":  {"a.yaml", "apiVersion: v1\nkind: ConfigMap\nitems: {a: b}", 1, "", ""},
		"broken in flow":          {"a.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}", 0, render.ProblemFailed, render.SeverityError},
		"a tab before":            {"a.yaml", "\t{apiVersion: v1, kind: Pod, metadata: {name: p}}", 1, "", ""},
		"words on odd lines":      {"a.yaml", "? apiVersion: v1\nkind: Pod\n" + pod, 0, render.ProblemFailed, render.SeverityError},
		"JSON with comments":      {"a.json", "{\n// \\u0041\n\"a\": 1}", 0, "", ""},
		"named as a chart":        {"Chart.yaml", "apiVersion: v1\nkind: Pod\n" + pod, 1, "", ""},
		"not a manifest at all":   {"a.yaml", "replicas: 1\n", 0, "", ""},
		"escapes, not a manifest": {"a.json", `{"name": "\u0061"}`, 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := sources.NewRenderer(fstest.MapFS{c.file: {Data: []byte(c.text)}}, render.Options{})
			found, err := r.Discover(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var told render.Severity
			for _, d := range found.Diagnostics {
				told = d.Severity
			}
			if told != c.told || len(found.Diagnostics) > 1 {
				t.Errorf("told %v, want %q", found.Diagnostics, c.told)
			}
			if len(found.Roots) == 0 {
				if c.objects > 0 || c.problem != "" {
					t.Error("no root")
				}
				return
			}
			result := r.Render(context.Background(), found.Roots[0])
			if len(result.Objects) != c.objects {
				t.Errorf("%d objects, want %d", len(result.Objects), c.objects)
			}
			var problem render.ProblemKind
			if result.Problem != nil {
				problem = result.Problem.Kind
			}
			if problem != c.problem {
				t.Errorf("problem %v, want %q", result.Problem, c.problem)
			}
		})
	}
}

// TestItemsOfAnything checks that kustomize passes on an object with items, which other tools expand.
func TestItemsOfAnything(t *testing.T) {
	r := sources.NewRenderer(fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources: [a.yaml]\n")},
		"a.yaml":             {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: p}}]\n")},
	}, render.Options{})
	p := r.Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "."}}).Problem
	if p == nil || p.Kind != render.ProblemRefused || !strings.Contains(p.Message, "ConfigMap.v1.[noGrp]/a.[noNs] has items") {
		t.Errorf("problem %v", p)
	}
}

// wide returns a text in UTF-16 with a byte order mark.
func wide(text string) string {
	out := []byte{0xFE, 0xFF}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit>>8), byte(unit))
	}
	return string(out)
}
