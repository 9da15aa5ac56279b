package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/tree"
)

// newChart makes a chart from files.
func newChart(t testing.TB, files map[string]string) *helmchart.Chart {
	t.Helper()
	fsys := fstest.MapFS{}
	if files["Chart.yaml"] == "" {
		fsys["Chart.yaml"] = &fstest.MapFile{Data: []byte("{apiVersion: v2, name: app, version: 1.0.0}")}
	}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), ".", chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render renders a chart of files with its default values.
func render(t testing.TB, files map[string]string, opts engine.Options) (*engine.Rendering, error) {
	t.Helper()
	c, all, err := prepared(t, newChart(t, files), nil)
	if err != nil {
		t.Fatal(err)
	}
	return engine.New().Render(t.Context(), c, all, opts)
}

const deep = "call one another more than 1000 deep"

// bombs are templates that crash Helm's process, or cost far more than their size suggests.
var bombs = []struct{ name, template, values, want string }{
	{"tpl calls itself", "a: b\nx: {{ tpl .Values.x . }}", `x: "{{ tpl .Values.x . }}"`, "t.yaml:2: templates " + deep},
	{"tpl twice", `{{ tpl .Values.x . }}`, `x: "{{ tpl .Values.x . }}{{ tpl .Values.x . }}"`, deep},
	{"tpl defines what it includes", `{{ tpl .Values.x . }}`, `x: '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'`, deep},
	{"include calls itself", "{{ define \"a\" }}\n{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}", "", "t.yaml:2: templates " + deep},
	{"include by turns", `{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`, "", deep},
	{"template calls itself", `{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, "", deep},
	{"includes that double", doubling(), "", "more than the limit of 1000000 steps"},
	{"until", "\n\n{{ range until 1000000000 }}{{ end }}", "", "t.yaml:3: a value has more than the limit of 67108864 bytes"},
	{"untilStep", `{{ untilStep 0 9223372036854775807 4611686018427387904 }}`, "", "a value has more"},
	{"seq", `{{ seq 0 1 9223372036854775807 }}`, "", "a value has more"},
	{"range over a number", `{{ range 9223372036854775807 }}{{ end }}`, "", "more than the limit of 1000000 steps"},
	{"loops in loops", `{{ range until 3000 }}{{ range until 3000 }}{{ range until 3000 }}{{ end }}{{ end }}{{ end }}`, "", "more than the limit of 1000000 steps"},
	{"repeat", `{{ repeat 1000000000 "a" }}`, "", "a value has more"},
	{"repeat of repeat", `{{ repeat 30000 (repeat 30000 "a") }}`, "", "a value has more"},
	{"nindent", `{{ nindent 1000000000 "a" }}`, "", "a value has more"},
	{"indent of lines", `{{ repeat 30000 "\n" | indent 30000 }}`, "", "a value has more"},
	{"printf width", `{{ printf "` + strings.Repeat("%999999d", 100) + `" ` + strings.Repeat("1 ", 100) + `}}`, "", "a value has more"},
	{"printf star", `{{ printf "` + strings.Repeat("%*d", 100) + `" ` + strings.Repeat("999999 1 ", 100) + `}}`, "", "a value has more"},
	{"printf index", `{{ $x := repeat 1000000 "a" }}{{ printf "` + strings.Repeat("%[1]s", 100) + `" $x }}`, "", "a value has more"},
	{"print doubles", `{{ $x := "aaaa" }}{{ range until 64 }}{{ $x = print $x $x }}{{ end }}{{ $x }}`, "", "a value has more"},
	{"cat doubles", `{{ $x := "aaaa" }}{{ range until 64 }}{{ $x = cat $x $x }}{{ end }}{{ $x }}`, "", "a value has more"},
	{"lists double", `{{ $x := list 1 }}{{ range until 64 }}{{ $x = concat $x $x }}{{ end }}`, "", "a value has more"},
	{"lists of lists", `{{ $x := list 1 }}{{ range until 64 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}`, "", "a value has more"},
	{"maps of maps, printed", `{{ $x := dict }}{{ range until 64 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ $x }}`, "", "a value has more"},
	{"maps of maps, copied", `{{ $x := dict }}{{ range until 64 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ $y := deepCopy $x }}`, "", "a value has more"},
	{"a map in itself, printed", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $x }}`, "", "a value has more"},
	{"a map in itself, as YAML", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toYaml $x }}`, "", "a value has more"},
	{"a map in itself, as JSON", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toJson $x }}`, "", "a value has more"},
	{"a map in itself, merged", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $y := mergeOverwrite (dict) $x }}`, "", "a value has more"},
	{"a map in itself, quoted", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ quote $x }}`, "", "a value has more"},
	{"values in themselves", `{{ $_ := set .Values "x" .Values }}{{ toYaml .Values }}`, "", "a value has more"},
	{"replace", `{{ repeat 30000 "a" | replace "a" (repeat 30000 "b") }}`, "", "a value has more"},
	{"replace nothing", `{{ repeat 30000 "a" | replace "" (repeat 30000 "b") }}`, "", "a value has more"},
	{"regular expression", `{{ regexReplaceAll "" (repeat 30000 "a") (repeat 30000 "b") }}`, "", "a value has more"},
	{"regular expression repeats its match", `{{ regexReplaceAll ".*" (repeat 1000000 "a") (repeat 1000 "$0") }}`, "", "a value has more"},
	{"wrapWith", `{{ wrapWith 1 (repeat 30000 "b") (repeat 30000 "a ") }}`, "", "a value has more"},
	{"join", `{{ join (repeat 30000 "b") (until 30000) }}`, "", "a value has more"},
	{"uniq", `{{ $x := until 100000 | uniq }}`, "", "a value has more"},
	{"randAlphaNum", `{{ randAlphaNum 1000000000 }}`, "", "a value has more"},
	{"randBytes", `{{ randBytes 1000000000 }}`, "", "a value has more"},
	{"aliases", `{{ $x := fromYaml .Values.x }}{{ $x }}`, "x: " + fmt.Sprintf("%q", aliases()), "nodes"},
	{"brackets of TOML", `{{ $x := fromToml (print "a=" (repeat 5000000 "[")) }}{{ $x }}`, "", "brackets"},
	{"blocks in blocks", strings.Repeat("{{if 1}}", 500_000), "", "actions, more than the limit of 50000"},
	{"blocks in blocks by tpl", `{{ tpl (repeat 500000 "{{if 1}}") . }}`, "", "actions, more than the limit of 50000"},
	{"work", `{{ $x := repeat 10000000 "a" }}{{ range until 1000 }}{{ $y := sha256sum $x }}{{ end }}`, "", "functions read and make more"},
	{"long texts", `{{ $x := repeat 10000000 "a" }}{{ range until 100 }}{{ $y := upper $x }}{{ end }}`, "", "functions read and make more"},
	{"long texts, searched", `{{ $x := repeat 10000000 "a" }}{{ range until 100 }}{{ $y := contains "b" $x }}{{ end }}`, "", "functions read and make more"},
	{"long texts, as numbers", `{{ $x := repeat 10000000 "1" }}{{ range until 100 }}{{ $y := int64 $x }}{{ end }}`, "", "functions read and make more"},
	{"long texts, as dates in a zone", `{{ $x := repeat 10000000 "1" }}{{ range until 100 }}{{ $y := dateInZone $x 1 "UTC" }}{{ end }}`, "", "functions read and make more"},
	{"long texts, as dates", `{{ $x := repeat 10000000 "1" }}{{ range until 100 }}{{ $y := date $x 1 }}{{ end }}`, "", "functions read and make more"},
	{"long texts, as TOML", `{{ $x := repeat 1000000 "#" }}{{ range until 1000 }}{{ $y := fromToml $x }}{{ end }}`, "", "functions read and make more"},
	{"long lists, searched", `{{ $x := until 1000000 }}{{ range until 1000 }}{{ $y := has "a" $x }}{{ end }}`, "", "functions read and make more"},
	{"deep lists, searched", `{{ $x := list 1 }}{{ range until 16 }}{{ $x = list $x $x }}{{ end }}{{ range until 1000 }}{{ $y := mustHas "a" (list $x) }}{{ end }}`, "", "functions read and make more"},
	{"output", `{{ $x := repeat 10000000 "a" }}{{ range until 1000 }}{{ $x }}{{ end }}`, "", "the output is larger"},
	{"passwords", `{{ range until 1000 }}{{ derivePassword 1 "long" "a" "b" "c" }}{{ end }}`, "", "functions read and make more"},
	{"pattern of files", `{{ .Files.Glob .Values.x }}`, "x: \"" + strings.Repeat("{a,b", 100) + strings.Repeat("}", 100) + "\"", "braces"},
}

// doubling returns a chain of templates, each of which includes the next twice.
func doubling() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "{{ define \"t%d\" }}{{ include \"t%d\" . }}{{ include \"t%d\" . }}{{ end }}", i, i+1, i+1)
	}
	return b.String() + `{{ define "t60" }}{{ end }}{{ include "t0" . }}`
}

// aliases returns YAML whose aliases expand to 10^9 nodes.
func aliases() string {
	text := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return text
}

// TestBombs renders templates that would take an unbounded time, memory or stack.
func TestBombs(t *testing.T) {
	for _, bomb := range testall.Sample(bombs, 15) {
		t.Run(bomb.name, func(t *testing.T) {
			before := cputime.Used()
			_, err := render(t, map[string]string{"templates/t.yaml": bomb.template, "values.yaml": bomb.values}, engine.Options{})
			if spent := cputime.Used() - before; spent > 10*time.Second {
				t.Errorf("took %v of processor time", spent)
			}
			var failure *engine.Error
			if !errors.As(err, &failure) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), bomb.want) || !failure.Limit || !strings.HasPrefix(err.Error(), "app/templates/t.yaml:") {
				t.Errorf("error %q, limit %v; want %q at a line of the template", err, failure.Limit, bomb.want)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c, all, err := prepared(t, newChart(t, map[string]string{"templates/t.yaml": `{{ range until 1000000 }}{{ range until 1000 }}{{ end }}{{ end }}`}), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = engine.New().Render(ctx, c, all, engine.Options{Limits: engine.Limits{Steps: 1 << 40, Work: 1 << 50}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestErrors checks the places and messages of errors.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ name, template, helpers, values, want string }{
		{"required", "a: 1\nb: {{ required \"give b\" .Values.b }}", "", "", "app/templates/t.yaml:2: give b"},
		{"fail in a helper", "a: 1\nb: {{ include \"h\" . }}", "{{- define \"h\" }}\n\n{{ fail \"no\" }}{{ end }}", "", "app/templates/_h.tpl:3: no"},
		{"nil", "a: 1\nb: {{ .Values.a.b.c }}", "", "", "app/templates/t.yaml:2: nil pointer evaluating interface {}.b"},
		{"after an include", "{{ include \"h\" . }}\n{{ .Values.a.b.c }}", "{{ define \"h\" }}x{{ end }}", "", "app/templates/t.yaml:2: nil pointer evaluating interface {}.b"},
		{"syntax", "a: 1\nb: {{ if }}", "", "", "app/templates/t.yaml:2: missing value for if"},
		{"function", "a: 1\n\nb: {{ env \"HOME\" }}", "", "", `app/templates/t.yaml:3: function "env" not defined`},
		{"function of the tracer", "{{ preadmitWrite 1 2 }}", "", "", `app/templates/t.yaml:1: function "preadmitWrite" not defined`},
		{"in a tpl", "a: 1\nb: {{ tpl .Values.x . }}", "", `x: "\n\n{{ fail \"no\" }}"`, "app/templates/t.yaml:2: no"},
		{"syntax in a tpl", "a: 1\nb: {{ tpl .Values.x . }}", "", `x: "\n\n{{ if }}"`, "app/templates/t.yaml:2: missing value for if"},
		{"no such template", "a: 1\nb: {{ include \"h\" . }}", "", "", `app/templates/t.yaml:2: template: no template "h" associated with template "gotpl"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := render(t, map[string]string{"templates/t.yaml": test.template, "templates/_h.tpl": test.helpers, "values.yaml": test.values}, engine.Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// TestChance checks that equal seeds give equal output, and other Variants other output if a chart uses random
// functions.
func TestChance(t *testing.T) {
	text := func(opts engine.Options, template string) string {
		opts.Now = now
		rendering, err := render(t, map[string]string{"templates/t.yaml": template}, opts)
		if err != nil {
			t.Fatalf("%s: %v", template, err)
		}
		if len(rendering.Chance) == 0 {
			t.Errorf("%s: no chance is told", template)
		}
		return rendering.Files[0].Text
	}
	for _, template := range []string{
		`{{ randAlphaNum 10 }}`, `{{ randAlpha 10 | sha256sum | trunc 8 }}`, `{{ randNumeric 10 | b64enc }}`, `{{ randAscii 10 | quote }}`, `{{ randBytes 8 }}`,
		`{{ randInt 0 1000000000 }}`, `{{ uuidv4 }}`, `{{ shuffle "abcdefghijklmnopqrstuvwxyz" }}`, `{{ bcrypt "x" }}`, `{{ htpasswd "a" "b" }}`,
		`{{ encryptAES "key" "plain" }}`, `{{ genPrivateKey "rsa" }}`, `{{ (genCA "ca" 1).Cert }}`, `{{ $ca := genCA "ca" 1 }}{{ (genSignedCert "a" nil (list "b") 1 $ca).Key | b64enc }}`,
		`{{ (genSelfSignedCert "a" nil nil 1).Cert }}`, `{{ now }}`, `{{ now | unixEpoch }}`, `{{ now | date "2006-01-02 15:04:05" }}`, `{{ htmlDate now }}`, `{{ ago (toDate "2006" "2001") }}`,
		`{{ date "2006-01-02" "" }}`, `{{ dateInZone "15:04" 0 "Asia/Tokyo" }}`, `{{ if lookup "v1" "Secret" "a" "b" }}a{{ else }}b{{ end }}`, `{{ len (lookup "v1" "Secret" "a" "") }}`,
	} {
		first := text(engine.Options{Seed: "a"}, template)
		if again := text(engine.Options{Seed: "a"}, template); again != first {
			t.Errorf("%s: %q, then %q", template, first, again)
		}
		if other := text(engine.Options{Seed: "a", Variant: 1, Found: true}, template); other == first {
			t.Errorf("%s: %q by each variant", template, first)
		}
	}
}

// TestOrder checks that maps are ordered.
func TestOrder(t *testing.T) {
	const template = `{{ $x := dict "c" 1 "a" 2 "b" 3 "e" 4 "d" 5 }}{{ keys $x }} {{ values $x }} {{ .Files.Glob "**" }}`
	files := map[string]string{"templates/t.yaml": template, "a/x": "1", "b/x": "2"}
	for range 5 {
		rendering, err := render(t, files, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rendering.Files[0].Text; !strings.HasPrefix(got, "[a b c d e] [2 3 1 5 4] ") {
			t.Errorf("rendered %q", got)
		}
	}
}
