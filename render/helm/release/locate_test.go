package release_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
)

// tally counts scalars by the evidence for their places.
type tally struct{ scalars, placed, literal, wrong int }

// TestTemplateLines finds the template line of every scalar of real charts. The line of literal text must
// contain the beginning of the value.
func TestTemplateLines(t *testing.T) {
	archives, _ := filepath.Glob(filepath.Join(deployments(), "charts", "*", "*.tgz"))
	if len(archives) == 0 {
		t.Skipf("no charts in %s", deployments())
	}
	capabilities, err := values.Capabilities("v1.36.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	var sum tally
	for _, file := range testall.Sample(archives, 15) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := chart.FromArchive(data, chart.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r := &release.Release{Chart: release.NewChart(c), Release: values.Release{Name: "release", Namespace: "space"}, Capabilities: capabilities, SkipSchema: true}
		rendered, err := r.Render(t.Context())
		if err != nil {
			t.Logf("%s: %v", filepath.Base(file), err)
			continue
		}
		var one tally
		lines := map[string][]string{}
		for _, f := range c.Raw {
			lines[c.Name()+"/"+f.Name] = strings.Split(string(f.Data), "\n")
		}
		for _, o := range append(rendered.Objects, rendered.Hooks...) {
			if o.Document != nil {
				one.count(t, o.Document, o.Document.Node(), lines)
			}
		}
		if one.placed*100 < one.scalars*99 {
			t.Logf("%s: %+v", filepath.Base(file), one)
		}
		sum.scalars, sum.placed, sum.literal, sum.wrong = sum.scalars+one.scalars, sum.placed+one.placed, sum.literal+one.literal, sum.wrong+one.wrong
	}
	t.Logf("%+v: %.2f %% with a template line", sum, 100*float64(sum.placed)/float64(sum.scalars))
	if sum.placed*100 < sum.scalars*99 || sum.wrong > 0 {
		t.Errorf("less than 99 %% have a template line, or one is wrong")
	}
}

// TestIsLiteral checks that a text is not literal if any part of it is an action's output.
func TestIsLiteral(t *testing.T) {
	capabilities, err := values.Capabilities("v1.36.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = `apiVersion: v1
kind: ConfigMap
metadata: {name: texts}
data:
  loop: |-
    {{- range $k, $v := dict "one" 1 "two" 2 "three" 3 }}
    [{{ $k }}]
    value = {{ $v }}
    {{- end }}
  middle: |
    first
    second {{ .Release.Name }} and more
    the third
  end: |
    first line of the text
    the last {{ .Release.Name }}
  lines: |
    first
    second
  line: text
  action: {{ .Release.Name }}
`
	c := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, Templates: []*common.File{{Name: "templates/texts.yaml", Data: []byte(text)}}}
	r := &release.Release{Chart: release.NewChart(c), Release: values.Release{Name: "release", Namespace: "space"}, Capabilities: capabilities}
	rendered, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := rendered.Objects[0].Document
	n := d.Node()
	data := n.Content[len(n.Content)-1]
	for i := 0; i < len(data.Content); i += 2 {
		name := data.Content[i].Value
		if got, want := d.IsLiteral(data.Content[i+1]), name == "lines" || name == "line"; got != want {
			t.Errorf("%s is text of the template: %v, want %v", name, got, want)
		}
	}
}

// TestTraceAfterOtherLineEnds traces a value below characters at which only YAML's parser ends a line.
func TestTraceAfterOtherLineEnds(t *testing.T) {
	capabilities, err := values.Capabilities("v1.36.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = "# a\u2028\u2028\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: b\n"
	c := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, Templates: []*common.File{{Name: "templates/a.yaml", Data: []byte(text)}}}
	r := &release.Release{Chart: release.NewChart(c), Release: values.Release{Name: "release", Namespace: "space"}, Capabilities: capabilities}
	rendered, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := rendered.Objects[0].Document
	if places := d.Trace(d.Node().Content[1]); len(places) != 1 || places[0].Line != 2 {
		t.Errorf("the apiVersion is at %+v, want line 2", places)
	}
}

func (s *tally) count(t *testing.T, d *release.Document, n *yaml.Node, lines map[string][]string) {
	if n == nil {
		return
	}
	for i, inner := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			s.count(t, d, inner, lines)
		}
	}
	if n.Kind != yaml.ScalarNode {
		return
	}
	s.scalars++
	places := d.Trace(n)
	if len(places) == 0 || places[len(places)-1].File == "" && places[0].File == "" {
		return
	}
	s.placed++
	first := places[0]
	text := lines[first.File]
	if !first.Literal || text == nil {
		return
	}
	s.literal++
	line := text[first.Line-1]
	unescaped := strings.NewReplacer("''", "'", `\\`, `\`, `\"`, `"`).Replace(line)
	if word := firstWord(n.Value); !strings.Contains(line, word) && !strings.Contains(unescaped, word) && !begins(line, word) {
		s.wrong++
		t.Errorf("%s: %q is not on line %d: %q", first.File, word, first.Line, line)
	}
}

// firstWord returns the first word of a value.
func firstWord(value string) string {
	words := strings.Fields(value)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// begins reports whether the end of a line, or the text before an action, is the beginning of a word, as in
// `--port={{ .Values.port }}`.
func begins(line, word string) bool {
	for _, text := range append(strings.Split(line, "{{"), line) {
		text = strings.TrimRight(text, " ")
		for from := range text {
			if (from == 0 || strings.ContainsAny(text[from-1:from], " \"'[,-}")) && strings.HasPrefix(word, text[from:]) {
				return true
			}
		}
	}
	return false
}
