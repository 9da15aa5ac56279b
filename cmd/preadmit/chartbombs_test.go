package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
)

// chartBombs are small templates that cost Helm much time or memory, and the messages about them on line 3, where
// they begin. The values of their charts have the template x, which calls itself.
var chartBombs = []struct {
	name, text, why string
	// whole is set if the message is about the whole template, and so on its first line.
	whole bool
}{
	{"tpl in itself", `{{ tpl .Values.x . }}`, "call one another more than 1000 deep", false},
	{"tpl twice in itself", `{{ tpl (print .Values.x .Values.x) . }}`, "call one another more than 1000 deep", false},
	{"until", `{{ range until 1000000000 }}{{ end }}`, "a value has more than the limit", false},
	{"repeat", `{{ repeat 1000000000 "a" }}`, "a value has more than the limit", false},
	{"loops in loops", `{{ range until 3000 }}{{ range until 3000 }}{{ end }}{{ end }}`, "steps", false},
	{"includes in a circle", `{{ include "a" . }}{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}`, "call one another more than 1000 deep", false},
	{"widths of printf", `{{ printf "` + strings.Repeat("%999999d", 80) + `" ` + strings.Repeat("1 ", 80) + `}}`, "a value has more than the limit", false},
	{"regular expression", `{{ regexReplaceAll ".*" (repeat 1000000 "a") (repeat 1000 "$0") }}`, "a value has more than the limit", false},
	{"toYaml of a tree", `{{ $x := list 1 }}{{ range until 64 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}`, "a value has more than the limit", false},
	{"genCA in a loop", `{{ range until 2000000 }}{{ $x := genCA "a" 1 }}{{ end }}`, "read and make more", false},
	{"b64enc of b64enc", `{{ $x := repeat 1000 "a" }}{{ range until 200 }}{{ $x = b64enc $x }}{{ end }}`, "a value has more than the limit", false},
	{"nindent", `{{ nindent 1000000000 "a" }}`, "a value has more than the limit", false},
	{"indent of lines", `{{ repeat 30000 "\n" | indent 30000 }}`, "a value has more than the limit", false},
	{"a dictionary in itself", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toYaml $x }}`, "a value has more than the limit", false},
	{"a dictionary that doubles", `{{ $x := dict "a" "b" }}{{ range until 64 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ $x }}`, "a value has more than the limit", false},
	{"mergeOverwrite of itself", `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $y := mergeOverwrite (dict) $x }}`, "a value has more than the limit", false},
	{"replace", `{{ repeat 30000 "a" | replace "a" (repeat 30000 "b") }}`, "a value has more than the limit", false},
	{"random text", `{{ randAlphaNum 1000000000 }}`, "a value has more than the limit", false},
	{"texts joined", `{{ join (repeat 30000 "b") (until 30000) }}`, "a value has more than the limit", false},
	{"text that doubles", `{{ $x := "aaaa" }}{{ range until 64 }}{{ $x = print $x $x }}{{ end }}`, "a value has more than the limit", false},
	{"aliases in text", `{{ $x := fromYaml (printf "a: &a [` + strings.Repeat("x,", 100) + `]\nb: &b [` + strings.Repeat("*a,", 100) + `]\nc: &c [` + strings.Repeat("*b,", 100) + `]\nd: [` + strings.Repeat("*c,", 100) + `]") }}{{ $x }}`, "more than the limit", false},
	{"blocks in blocks", strings.Repeat("{{if 1}}", 60_000), "actions", true},
}

// packedBombs are charts in archives, and the messages about them.
var packedBombs = []struct {
	name  string
	files func() map[string]string
	why   string
}{
	{"a file of zeros", func() map[string]string {
		return map[string]string{"templates/cm.yaml": "{}", "big": strings.Repeat("\x00", 64<<20)}
	}, "more than the limit"},
	{"many files", func() map[string]string {
		all := map[string]string{}
		for i := range 25_000 {
			all[fmt.Sprintf("templates/%d.yaml", i)] = "{}"
		}
		return all
	}, "more than"},
	{"a file outside", func() map[string]string { return map[string]string{"../../outside": "x"} }, "outside the directory of the chart"},
	{"values with aliases", func() map[string]string {
		text := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
		for i := range 9 {
			text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
		}
		return map[string]string{"values.yaml": text, "templates/cm.yaml": "{{ toYaml .Values }}"}
	}, "excessive aliasing"},
	{"a schema elsewhere", func() map[string]string {
		return map[string]string{"values.schema.json": `{"$ref": "file:///etc/passwd"}`, "templates/cm.yaml": "{{ fail \"went on\" }}"}
	}, "went on"},
	{"notes", func() map[string]string {
		return map[string]string{"templates/NOTES.txt": `{{ repeat 1000000000 "a" }}`}
	}, "NOTES.txt:1: a value has more than the limit"},
}

// TestChartBombs scans releases of charts that would take unbounded time or memory, in one repository: each is
// refused separately, with the line of its template or the mistake in its archive, and another chart is still
// judged.
func TestChartBombs(t *testing.T) {
	testall.Long(t)
	dir, artifacts := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const source = "sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"
	var all strings.Builder
	all.WriteString("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: 'https://example.com/fleet'}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, path: ./cluster, prune: true, " + source + "}\n---\n" +
		"apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: flux-system}\nspec: {interval: 1m, url: 'https://charts.example.com'}\n")
	release := func(name, chart string) {
		fmt.Fprintf(&all, "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: shop}\nspec: {interval: 1m, chart: {spec: {%s}}}\n", name, chart)
	}
	inTree := func(name, text string) {
		write("charts/"+name+"/Chart.yaml", "{apiVersion: v2, name: bomb, version: 1.0.0}")
		write("charts/"+name+"/values.yaml", "x: \"{{ tpl .Values.x . }}\"\n")
		write("charts/"+name+"/templates/cm.yaml", text)
		release(name, "chart: ./charts/"+name+", "+source)
	}
	inTree("good", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n")
	for i, bomb := range chartBombs {
		inTree(fmt.Sprintf("bomb%d", i), "a: b\n\n"+bomb.text)
	}
	var index []map[string]string
	pack := func(name string, files map[string]string, link string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(artifacts, name+".tgz"), packed(t, name, files, link), 0o644); err != nil {
			t.Fatal(err)
		}
		index = append(index, map[string]string{"source": "https://charts.example.com", "name": name, "version": "1.0.0", "file": name + ".tgz"})
		release(name, "chart: "+name+", version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}")
	}
	pack("linked", nil, "/etc/passwd")
	for i, bomb := range packedBombs {
		pack(fmt.Sprintf("packed%d", i), bomb.files(), "")
	}
	list, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(artifacts, "index.json"), list, 0o644); err != nil {
		t.Fatal(err)
	}
	write("cluster/all.yaml", all.String())

	before := cputime.Used()
	var out bytes.Buffer
	code := Main(t.Context(), []string{"scan", "--artifacts", artifacts, "--base-path", t.TempDir(), dir, "--format", "json"}, cli.Process{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" },
	})
	if spent := cputime.Used() - before; spent > mostHostile {
		t.Errorf("took %v of processor time", spent)
	}
	var got report.Report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || code != cli.ExitIncomplete {
		t.Fatalf("exit code %d, %v: %s", code, err, out.String())
	}
	type refusal struct {
		why string
		at  report.Location
	}
	said := map[string]refusal{}
	note := func(root, why string, at *report.Location) {
		if at != nil {
			said[strings.TrimSuffix(strings.TrimPrefix(root, "HelmRelease/shop/"), " (cluster)")] = refusal{why, *at}
		}
	}
	for _, i := range got.Indeterminate {
		note(i.Root, i.Why, i.Location)
	}
	for _, f := range got.Findings {
		note(f.Root, f.Message, &f.Location)
	}
	for _, harmless := range []string{"good", "linked"} {
		if r, refused := said[harmless]; refused {
			t.Errorf("%s is refused: %+v", harmless, r)
		}
	}
	if strings.Contains(out.String(), "root:x:") {
		t.Error("a file outside of the chart was read")
	}
	for i, bomb := range chartBombs {
		name := fmt.Sprintf("bomb%d", i)
		got, line := said[name], 3
		if bomb.whole {
			line = 1
		}
		if !strings.Contains(got.why, bomb.why) || got.at.Path != "charts/"+name+"/templates/cm.yaml" || got.at.StartLine != line {
			t.Errorf("%s: %q at %s:%d, want %q on line %d of its template", bomb.name, got.why, got.at.Path, got.at.StartLine, bomb.why, line)
		}
	}
	for i, bomb := range packedBombs {
		name := fmt.Sprintf("packed%d", i)
		if got := said[name]; !strings.Contains(got.why, bomb.why) || got.at.Path != "cluster/all.yaml" || got.at.StartLine == 0 {
			t.Errorf("%s: %q at %s:%d, want %q where the chart is named", bomb.name, got.why, got.at.Path, got.at.StartLine, bomb.why)
		}
	}
}

// packed returns an archive of a chart, with a link if target is not empty.
func packed(t *testing.T, name string, files map[string]string, link string) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	w := tar.NewWriter(zipped)
	add := func(h tar.Header, text string) {
		h.Name, h.Mode, h.ModTime, h.Size = name+"/"+h.Name, 0o644, time.Unix(0, 0), int64(len(text))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.Header{Name: "Chart.yaml"}, "{apiVersion: v2, name: "+name+", version: 1.0.0}")
	for file, text := range files {
		add(tar.Header{Name: file}, text)
	}
	if link != "" {
		add(tar.Header{Name: "templates/cm.yaml", Typeflag: tar.TypeSymlink, Linkname: link}, "")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}
