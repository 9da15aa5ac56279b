package objects_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	yaml3 "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/report/format/objects"
)

// shop is a tree with a kustomization in root and text that is hard to print.
var shop = map[string]string{
	"root/kustomization.yaml": "namespace: shop\nresources: [../base]\npatches:\n" +
		"- path: \"odd\\n##[name.yaml\"\n  target: {kind: ConfigMap}\n",
	"root/odd\n##[name.yaml": "- {op: add, path: /data/added, value: here}\n" +
		"- {op: add, path: /metadata/labels, value: {app: x}}\n",
	"base/kustomization.yaml": "resources: [cm.yaml, secret.yaml]\n",
	"base/secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: s
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"user":"hunter2"}}'
data: {password: aHVudGVyMg==}
stringData:
  user: |
    hunter2
    second
`,
	"base/cm.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: {example.com/note: "yes"}
  finalizers: []
data:
  run.sh: |
    set -e
    	echo "tab"

    exit 0
  folded: >-
    one line of text that is long enough for any writer to fold it somewhere, should it
    like to
  "::key": "::warning::x"
  commands: "first\n::error::second\n"
  hostile: "##[group]\u202e\e[31m"
  number: "1"
  "on": "off"
  octal: "0o17"
  sexagesimal: "12:30:45"
  empty: ""
  crlf: "a\r\nb\r\n"
  bidi: "a\u202eb"
`,
}

// rendered returns the objects of a root of a tree, with their sources.
func rendered(t testing.TB, files map[string]string, root string) []objects.Located {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r := sources.NewRenderer(fsys, render.Options{})
	found, ok := r.At(root)
	if !ok {
		t.Fatalf("%s has no kustomization", root)
	}
	result := r.Render(t.Context(), found)
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	sources, err := r.Origins(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]objects.Located, len(sources))
	for i := range out {
		out[i] = objects.Located{Object: result.Objects[i], Source: sources[i]}
	}
	return out
}

func TestWriteObjects(t *testing.T) {
	located := rendered(t, shop, "root")
	for name, opts := range map[string]objects.Options{
		"plain.yaml": {}, "origin.yaml": {Origin: true}, "secrets.yaml": {Origin: true, ShowSecrets: true},
	} {
		var out bytes.Buffer
		if err := objects.Write(&out, located, opts); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/"+name, out.Bytes())
		checkSafe(t, out.String())
		if strings.Contains(out.String(), "hunter2") != opts.ShowSecrets {
			t.Errorf("%s: secrets are shown, or hidden, against the option", name)
		}
		for i, text := range strings.Split(out.String(), "\n---\n") {
			if opts.ShowSecrets {
				sameObject(t, text, located[i].Content())
			}
		}
	}
}

// checkSafe fails for text that a terminal or a CI runner would interpret.
func checkSafe(t *testing.T, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\r\u202e\u2028\u0085\x00\x7f") || strings.Contains(text, "##[") {
		t.Errorf("not safe to print: %q", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a command to a CI runner: %q", line)
		}
	}
}

// sameObject decodes YAML text as version 1.1, as Kubernetes does, and as 1.2.
func sameObject(t *testing.T, text string, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, readYAML(t, text)); diff != "" {
		t.Errorf("YAML 1.1 (-want +got):\n%s\n%s", diff, text)
	}
	var v any
	if err := yaml3.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(want, (&render.Object{JSON: data}).Content()); diff != "" {
		t.Errorf("YAML 1.2 (-want +got):\n%s\n%s", diff, text)
	}
}

func readYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var got map[string]any
	if err := utiljson.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// FuzzWriteObjects: any object reads back the same, with or without comments, and no text
// of it is interpreted by a terminal or a CI runner.
func FuzzWriteObjects(f *testing.F) {
	for _, seed := range []string{
		`{"a":[[1,[2.5,-1e21]],[{"b":{}}],[],{},null,true]}`,
		`{"- a":"- b","? c":"? d",": e":": f","#g":"#h","&i":"*j","!k":"|","x: y":"a #b","{":"}","<<":"="}`,
		`{"~":"null","y":"n","NO":"0x1f","1_000":"1e3","2026-01-01":"2026-01-01T00:00:00Z",".inf":".nan","0b1":"+1","":" "}`,
		`{"a":"one\ntwo\n","b":" lead\nx","c":"\n","d":"x\n\n","e":"x\n  ","f":"\tx\ny","g":"a\n\tb\n  c","h":"---\n...\n"}`,
		`{"a":"\u0000\u001b\u007f\u0085\u2028\ufeff\ud83d\ude00\ue000","b":"::x","c":"a\n ::x","d":"##[x]\n","---":"..."}`,
		`{"` + strings.Repeat("long ", 400) + `":["x",{"y":1}],"` + strings.Repeat("k", 1100) + `":{"z":"` + strings.Repeat("w ", 2000) + `"}}`,
	} {
		f.Add([]byte(seed))
	}
	source := rendered(f, shop, "root")[0].Source
	f.Fuzz(func(t *testing.T, data []byte) {
		o := &render.Object{JSON: data}
		content := o.Content()
		if len(content) == 0 {
			t.Skip("no object")
		}
		for _, origins := range []bool{false, true} {
			var out bytes.Buffer
			opts := objects.Options{Origin: origins, ShowSecrets: true}
			if err := objects.Write(&out, []objects.Located{{Object: o, Source: source}}, opts); err != nil {
				t.Fatal(err)
			}
			checkSafe(t, out.String())
			sameObject(t, out.String(), content)
		}
	})
}

func TestWriteField(t *testing.T) {
	located := rendered(t, shop, "root")
	tests := []struct {
		field string
		opts  objects.Options
		want  string
	}{
		{"metadata.name", objects.Options{}, "ConfigMap/a: a  base/cm.yaml:4:9\nSecret/s: s  base/secret.yaml:4:9\n"},
		{"metadata.namespace", objects.Options{}, `ConfigMap/a: shop  root/kustomization.yaml:1:12
  (base/cm.yaml:3:1)  resource of base/kustomization.yaml
  root/kustomization.yaml:1:12  namespace of root/kustomization.yaml
Secret/s: shop  root/kustomization.yaml:1:12
  (base/secret.yaml:3:1)  resource of base/kustomization.yaml
  root/kustomization.yaml:1:12  namespace of root/kustomization.yaml
`},
		{"data[number]", objects.Options{}, "ConfigMap/a: \"1\"  base/cm.yaml:19:11\n"},
		{"data[run.sh]", objects.Options{}, `ConfigMap/a: "set -e\n\techo \"tab\"\n\nexit 0\n"  base/cm.yaml:8:11` + "\n"},
		{"data.added", objects.Options{}, `ConfigMap/a: here  root/odd\n##\u005bname.yaml:1:39
  (base/cm.yaml:7:1)  resource of base/kustomization.yaml
  root/odd\n##\u005bname.yaml:1:39  patch of root/kustomization.yaml
`},
		{"metadata.finalizers", objects.Options{}, "ConfigMap/a: []  base/cm.yaml:6:3\n"},
		{"metadata.labels", objects.Options{}, `ConfigMap/a: {"app":"x"}  root/odd\n##\u005bname.yaml:2:37
  (base/cm.yaml:3:1)  resource of base/kustomization.yaml
  root/odd\n##\u005bname.yaml:2:37  patch of root/kustomization.yaml
`},
		{"data.password", objects.Options{}, "Secret/s: \"***\"  base/secret.yaml:7:18\n"},
		{"data.password", objects.Options{ShowSecrets: true}, "Secret/s: aHVudGVyMg==  base/secret.yaml:7:18\n"},
		{"spec.replicas", objects.Options{}, ""},
	}
	for _, test := range tests {
		var out bytes.Buffer
		found, err := objects.WriteField(&out, located, test.field, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != test.want || found != strings.Count("\n"+test.want, "\nConfigMap/")+strings.Count("\n"+test.want, "\nSecret/") {
			t.Errorf("%s: %d objects\n%swant\n%s", test.field, found, out.String(), test.want)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")

// golden compares output with a file, or writes the file with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
