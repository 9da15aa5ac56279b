package lock

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/artifact"
)

func sample() *Lock {
	digest := "sha256:" + strings.Repeat("ab", 32)
	l := &Lock{}
	l.Set(artifact.Artifact{Kind: artifact.Git, URL: "https://github.com/a/b", Version: "1.10"},
		artifact.Pin{Version: "refs/tags/1.10", Commit: strings.Repeat("0", 40), Digest: digest, Size: 1})
	l.Set(artifact.Artifact{Kind: artifact.Chart, URL: "https://example.com/charts", Name: "app", Version: ">=1.0 <2"},
		artifact.Pin{Version: "1.5.0", Digest: digest, Size: 2})
	l.Set(artifact.Artifact{Kind: artifact.Chart, URL: "oci://example.com/charts", Name: "yes", Version: "~1"}, artifact.Pin{Version: "true", Digest: digest})
	l.Set(artifact.Artifact{Kind: artifact.File, URL: "https://example.com/a?b=c#d: e"[:27]}, artifact.Pin{Digest: digest, Size: 1 << 40})
	return l
}

const encoded = `# Written by preadmit fetch. Commit this file: it pins the artifacts of the repository.
apiVersion: preadmit.dev/v1alpha1
kind: ArtifactLock
artifacts:
- kind: chart
  url: https://example.com/charts
  name: "app"
  requested: ">=1.0 <2"
  version: "1.5.0"
  digest: sha256:abababababababababababababababababababababababababababababababab
  size: 2
- kind: chart
  url: oci://example.com/charts
  name: "yes"
  requested: "~1"
  version: "true"
  digest: sha256:abababababababababababababababababababababababababababababababab
  size: 0
- kind: file
  url: "https://example.com/a?b=c#d"
  digest: sha256:abababababababababababababababababababababababababababababababab
  size: 1099511627776
- kind: git
  url: https://github.com/a/b
  requested: "1.10"
  version: "refs/tags/1.10"
  commit: "0000000000000000000000000000000000000000"
  digest: sha256:abababababababababababababababababababababababababababababababab
  size: 1
`

func TestEncode(t *testing.T) {
	if diff := cmp.Diff(encoded, string(sample().Encode())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l, err := Parse("preadmit.lock", []byte(encoded))
	if err != nil {
		t.Fatal(err)
	}
	if again := string(l.Encode()); again != encoded {
		t.Errorf("read and written again:\n%s", again)
	}
	pin, ok := l.Find(artifact.Artifact{Kind: artifact.Git, URL: "https://github.com/a/b", Version: "1.10"})
	if !ok || pin.Version != "refs/tags/1.10" || len(l.Artifacts()) != 4 {
		t.Errorf("%+v, %v", pin, ok)
	}
}

func TestParseMistakes(t *testing.T) {
	head := "apiVersion: preadmit.dev/v1alpha1\nkind: ArtifactLock\n"
	one := "digest: sha256:" + strings.Repeat("0", 64) + ", size: 1"
	for name, test := range map[string]struct{ in, want string }{
		"empty":           {"", "the file is empty"},
		"version":         {"apiVersion: v2\nkind: ArtifactLock\n", "lock:1:13: apiVersion: want preadmit.dev/v1alpha1"},
		"kind":            {"apiVersion: preadmit.dev/v1alpha1\nkind: Other\n", "want ArtifactLock"},
		"unknown key":     {head + "more: x\n", "more"},
		"repeated key":    {head + "kind: ArtifactLock\n", "kind"},
		"no digest":       {head + "artifacts: [{kind: file, url: 'https://a/b', size: 1}]\n", "digest"},
		"other digest":    {head + "artifacts: [{kind: file, url: 'https://a/b', digest: 'sha512:00', size: 1}]\n", "digest"},
		"short commit":    {head + "artifacts: [{kind: git, url: 'https://a/b', commit: abc, " + one + "}]\n", "commit"},
		"commit of chart": {head + "artifacts: [{kind: chart, url: 'https://a/b', name: c, commit: abc, " + one + "}]\n", "no commit"},
		"negative size":   {head + "artifacts: [{kind: file, url: 'https://a/b', digest: 'sha256:" + strings.Repeat("0", 64) + "', size: -1}]\n", "negative"},
		"no encryption":   {head + "artifacts: [{kind: file, url: 'http://a/b', " + one + "}]\n", "only https"},
		"credentials":     {head + "artifacts: [{kind: file, url: 'https://u:p@a/b', " + one + "}]\n", "credentials"},
		"other kind":      {head + "artifacts: [{kind: ftp, url: 'https://a/b', " + one + "}]\n", "no kind of artifact"},
		"twice":           {head + "artifacts: [{kind: file, url: 'https://a/b', " + one + "}, {kind: file, url: 'https://a/b', " + one + "}]\n", "twice"},
		"two documents":   {head + "---\n" + head, "document"},
		"bomb":            {head + "a: &a [x,x]\nb: &b [*a,*a]\n", ""},
	} {
		if _, err := Parse("lock", []byte(test.in)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
}

func TestLoad(t *testing.T) {
	if l, err := Load(fstest.MapFS{}); l != nil || err != nil {
		t.Error(l, err)
	}
	l, err := Load(fstest.MapFS{FileName: {Data: []byte(encoded)}})
	if err != nil || len(l.Artifacts()) != 4 {
		t.Error(l, err)
	}
	if _, err := Load(fstest.MapFS{FileName: {Data: make([]byte, maxBytes+1)}}); err == nil {
		t.Error("a file of any size is read")
	}
	var none *Lock
	if _, ok := none.Find(artifact.Artifact{}); ok || none.Artifacts() != nil || none.Digests() != nil {
		t.Error("no lock has something")
	}
}

// TestSchema checks that the published schema matches the file.
func TestSchema(t *testing.T) {
	name := filepath.Join("..", "..", "..", "docs", "lock.schema.json")
	compiler := jsonschema.NewCompiler()
	schema, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	decode := func(text string) any {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	if err := schema.Validate(decode(encoded)); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{{"kind: chart", "kind: ftp"}, {"sha256:ab", "md5:ab"}, {"size: 2", "size: -2"}, {"ArtifactLock", "Other"}, {"  name:", "  names:"}, {"https://github.com/a/b", "http://github.com/a/b"}} {
		bad := strings.Replace(encoded, change[0], change[1], 1)
		if bad == encoded || schema.Validate(decode(bad)) == nil {
			t.Errorf("%s is valid", change[1])
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var fields struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	of := reflect.TypeFor[entry]()
	var want, got []string
	for i := range of.NumField() {
		tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		want = append(want, tag)
	}
	for field := range fields.Defs["artifact"].Properties {
		got = append(got, field)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-struct +schema):\n%s", diff)
	}
}
