package scanner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/diff"
)

// mustCompare compares two trees.
func mustCompare(t *testing.T, in scanner.Input) *report.Comparison {
	t.Helper()
	c, err := scanner.Compare(t.Context(), in)
	if err != nil {
		t.Fatalf("compare: %v", err)
	}
	return c
}

// changesText formats changes as text for comparison.
func changesText(c report.Changes) string {
	var b strings.Builder
	for _, o := range c.Objects {
		line := fmt.Sprintf("%s %s %s %s/%s +%d -%d %s", o.Root, o.Operation, o.Object.Kind, o.Object.Namespace, o.Object.Name, o.Added, o.Removed, o.Omitted)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, line := range o.Diff {
			b.WriteString("  " + line + "\n")
		}
		if o.Cut > 0 {
			fmt.Fprintf(&b, "  cut %d\n", o.Cut)
		}
	}
	if c.LeftOut > 0 {
		fmt.Fprintf(&b, "left out %d\n", c.LeftOut)
	}
	return b.String()
}

func wantChanges(t *testing.T, c report.Changes, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), changesText(c)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

const configOf = `-- %s --
apiVersion: v1
kind: ConfigMap
metadata: {name: %s}
data: {key: %q}
`

func configMapFile(file, name, value string) string { return fmt.Sprintf(configOf, file, name, value) }

func TestCompareEachRoot(t *testing.T) {
	base := configMapFile("a/c.yaml", "c", "old") + configMapFile("a/gone.yaml", "gone", "x") + configMapFile("a/same.yaml", "same", "x") + configMapFile("b/same.yaml", "same", "x")
	head := configMapFile("a/c.yaml", "c", "new") + configMapFile("a/more.yaml", "more", "x") + configMapFile("a/same.yaml", "same", "x") + configMapFile("b/same.yaml", "same", "x") + "# a comment changes nothing\n"
	c := mustCompare(t, input(base, head))
	wantChanges(t, c.Changes, `
a UPDATE ConfigMap default/c +1 -1
  @@ -1,6 +1,6 @@
   apiVersion: v1
   data:
  -  key: old
  +  key: new
   kind: ConfigMap
   metadata:
     name: c
a CREATE ConfigMap default/more +6 -0
  @@ -0,0 +1,6 @@
  +apiVersion: v1
  +data:
  +  key: x
  +kind: ConfigMap
  +metadata:
  +  name: more
a DELETE ConfigMap default/gone +0 -6
  @@ -1,6 +0,0 @@
  -apiVersion: v1
  -data:
  -  key: x
  -kind: ConfigMap
  -metadata:
  -  name: gone
`)
	if c.Kind != report.DiffKind || c.Change.Base.Name != "base" || len(c.Indeterminate)+len(c.Diagnostics) > 0 {
		t.Errorf("got %+v", c)
	}
}

// TestOnlyTouchedRootsAreRendered checks that roots which the change does not touch are not
// rendered.
func TestOnlyTouchedRootsAreRendered(t *testing.T) {
	in := input(configMapFile("a/c.yaml", "c", "old")+configMapFile("b/d.yaml", "d", "x"), configMapFile("a/c.yaml", "c", "new")+configMapFile("b/d.yaml", "d", "x"))
	totals := map[string]int{}
	in.Progress = func(stage string, _, total int) { totals[stage] = total }
	in.Workers = 1
	mustCompare(t, in)
	if totals["render head"] != 1 || totals["render base"] != 1 {
		t.Errorf("roots by stage: %v", totals)
	}
}

// TestScanHoldsWhatCompareDoes checks that a scan reports the same changes as Compare if requested,
// and none otherwise or without a base.
func TestScanHoldsWhatCompareDoes(t *testing.T) {
	in := input(configMapFile("a/c.yaml", "c", "old"), configMapFile("a/c.yaml", "c", "new")+configMapFile("b/d.yaml", "d", "x"))
	if mustScan(t, in).Changes != nil {
		t.Error("changes that nobody asked for")
	}
	in.Diff = &diff.Limits{}
	r := mustScan(t, in)
	if diff := cmp.Diff(&mustCompare(t, in).Changes, r.Changes); diff != "" {
		t.Errorf("scan and comparison (-compare +scan):\n%s", diff)
	}
	if len(r.Changes.Objects) != 2 {
		t.Errorf("got %d changes", len(r.Changes.Objects))
	}
	in.Base = nil
	if mustScan(t, in).Changes != nil {
		t.Error("changes without a base")
	}
	if _, err := scanner.Compare(t.Context(), in); err == nil {
		t.Error("compares with nothing")
	}
}

func TestOnlySelectedRootsAreCompared(t *testing.T) {
	in := input(configMapFile("a/c.yaml", "c", "old"), configMapFile("a/c.yaml", "c", "new")+configMapFile("b/d.yaml", "d", "x"))
	in.Config.Roots = []string{"b"}
	if c := mustCompare(t, in).Changes; len(c.Objects) != 1 || c.Objects[0].Root != "b" {
		t.Errorf("got %+v", c)
	}
	in.Config.Roots, in.Head.Under = nil, []string{"a"}
	if c := mustCompare(t, in).Changes; len(c.Objects) != 1 || c.Objects[0].Root != "a" {
		t.Errorf("got %+v", c)
	}
}

func secretManifest(data, more string) string {
	return "-- a/s.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {" + data + "}\n" + more
}

// TestSecretsAreMasked checks that differences of a Secret are shown without the values.
func TestSecretsAreMasked(t *testing.T) {
	base := secretManifest("a: aHVudGVyMQ==, b: aHVudGVyMg==, gone: aHVudGVyMw==", "stringData: {plain: hunter4}\nstringdata: {typo: hunter5}\n")
	head := secretManifest("a: aHVudGVyMQ==, b: aHVudGVyNg==, more: aHVudGVyNw==", "stringData: {plain: hunter8}\nstringdata: {typo: hunter9}\n")
	c := mustCompare(t, input(base, head))
	wantChanges(t, c.Changes, `
a UPDATE Secret default/s +4 -4
  @@ -1,11 +1,11 @@
   apiVersion: v1
   data:
     a: '***'
  -  b: '*** (before)'
  -  gone: '***'
  +  b: '*** (after)'
  +  more: '***'
   kind: Secret
   metadata:
     name: s
   stringData:
  -  plain: '*** (before)'
  -stringdata: '*** (before)'
  +  plain: '*** (after)'
  +stringdata: '*** (after)'
`)
}

// TestSecretInKubectlsAnnotation: kubectl's copy of a Secret is masked too.
func TestSecretInKubectlsAnnotation(t *testing.T) {
	manifest := func(value string) string {
		return "-- a/s.yaml --\napiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"k\":\"" + value + "\"}}'\n"
	}
	text := changesText(mustCompare(t, input(manifest("hunter1"), manifest("hunter2"))).Changes)
	if strings.Contains(text, "hunter") || !strings.Contains(text, "configuration: '*** (after)'") {
		t.Errorf("got:\n%s", text)
	}
}

func TestRootsThatDoNotRenderAreNotCompared(t *testing.T) {
	kustomization := func(dir, text string) string { return "-- " + dir + "/kustomization.yaml --\n" + text + "\n" }
	good, broken := kustomization("a", "resources: [c.yaml]")+configMapFile("a/c.yaml", "c", "x"), kustomization("a", "resources: [missing.yaml]")

	c := mustCompare(t, input(good, broken))
	if len(c.Changes.Objects) != 0 || len(c.Indeterminate) != 1 || c.Indeterminate[0].Root != "a" || c.Indeterminate[0].Location.Tree != "head" {
		t.Errorf("broken at head: %+v", c)
	}
	c = mustCompare(t, input(broken, good))
	if len(c.Changes.Objects) != 1 || c.Changes.Objects[0].Operation != "CREATE" || len(c.Diagnostics) != 1 || !strings.Contains(c.Diagnostics[0].Message, "did not render before") {
		t.Errorf("broken at base: %+v", c)
	}
	c = mustCompare(t, input(broken+configMapFile("b/c.yaml", "c", "x"), configMapFile("b/c.yaml", "c", "x")))
	if len(c.Changes.Objects) != 0 || len(c.Indeterminate) != 1 || c.Indeterminate[0].Location.Tree != "base" {
		t.Errorf("broken at base and gone: %+v", c)
	}
	c = mustCompare(t, input(broken+configMapFile("b/c.yaml", "c", "x"), broken+configMapFile("b/c.yaml", "c", "y")))
	if len(c.Changes.Objects) != 1 || len(c.Indeterminate) != 0 {
		t.Errorf("broken and not touched: %+v", c)
	}
	remote := kustomization("a", "resources: [https://github.com/o/r]")
	c = mustCompare(t, input(remote+configMapFile("b/c.yaml", "c", "x"), remote+configMapFile("b/c.yaml", "c", "y")))
	if len(c.Changes.Objects) != 1 || len(c.Indeterminate) != 0 {
		t.Errorf("remote and not touched: %+v", c)
	}
}

func TestDiffsAreBounded(t *testing.T) {
	var base, head strings.Builder
	for i := range 20 {
		base.WriteString(configMapFile(fmt.Sprintf("a/%02d.yaml", i), fmt.Sprintf("c%02d", i), "old"))
		head.WriteString(configMapFile(fmt.Sprintf("a/%02d.yaml", i), fmt.Sprintf("c%02d", i), "new"))
	}
	in := input(base.String(), head.String())
	in.Diff = &diff.Limits{Objects: 3, ObjectBytes: 50, TotalBytes: 80}
	wantChanges(t, mustCompare(t, in).Changes, `
a UPDATE ConfigMap default/c00 +1 -1
  @@ -1,6 +1,6 @@
   apiVersion: v1
   data:
  -  key: old
  cut 4
a UPDATE ConfigMap default/c01 +1 -1
  @@ -1,6 +1,6 @@
   apiVersion: v1
  cut 6
a UPDATE ConfigMap default/c02 +1 -1 the diffs of other objects took all the room there is
left out 17
`)
}

// TestLargeObjectsAreCompared compares an object of 3 MiB, the maximum that an API server accepts,
// and 10,000 objects, more than a change should have.
func TestLargeObjectsAreCompared(t *testing.T) {
	large := func(last string) string {
		var b strings.Builder
		b.WriteString("-- a/c.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  one: \"" + strings.Repeat("x", 1<<20) + last + "\"\n  many: |\n")
		for i := range 100_000 {
			fmt.Fprintf(&b, "    line %d of many\n", i)
		}
		b.WriteString("    " + last + "\n")
		return b.String()
	}
	start := cputime.Used()
	c := mustCompare(t, input(large("old"), large("new"))).Changes
	if spent := cputime.Used() - start; spent > 20*time.Second {
		t.Errorf("took %s", spent)
	}
	o := c.Objects[0]
	if o.Added != 2 || o.Removed != 2 || o.Omitted != "" {
		t.Fatalf("got +%d -%d %s", o.Added, o.Removed, o.Omitted)
	}
	if last := o.Diff[len(o.Diff)-4]; !strings.HasSuffix(last, "more characters)") || len(last) > 1100 {
		t.Errorf("the long line is %d characters: %.100s", len(last), last)
	}
}

// TestDeepObjectsAreNotCompared checks deeply nested objects, whose indented YAML would have
// gigabytes.
func TestDeepObjectsAreNotCompared(t *testing.T) {
	deep := func(value string) fstest.MapFS {
		text := `{"apiVersion": "example.com/v1", "kind": "Deep", "metadata": {"name": "d"}, "spec": ` +
			strings.Repeat(`{"a":`, 4000) + value + strings.Repeat("}", 4000) + "}"
		return fstest.MapFS{"a/d.json": &fstest.MapFile{Data: []byte(text)}}
	}
	c := mustCompare(t, inputOf(deep("1"), deep("2")))
	if len(c.Changes.Objects) != 1 {
		t.Fatalf("got %+v %+v", c.Indeterminate, c.Diagnostics)
	}
	if o := c.Changes.Objects[0]; len(o.Diff) > 0 || o.Omitted != "the object is too large to compare" {
		t.Errorf("got %q, %d lines", o.Omitted, len(o.Diff))
	}
}

// TestMaskSecret checks that everything that may be secret is masked, in every shape.
func TestMaskSecret(t *testing.T) {
	for in, want := range map[string]string{
		`{"kind":"Secret","data":{"a":"x"},"stringData":{"b":"y"},"type":"Opaque","immutable":true}`: `{"kind":"Secret","data":{"a":"***"},"stringData":{"b":"***"},"type":"Opaque","immutable":true}`,
		`{"kind":"Secret","data":["x"],"stringData":"y","Data":{"a":"x"}}`:                           `{"kind":"Secret","data":"***","stringData":"***","Data":"***"}`,
		`{"kind":"Secret","data":null,"metadata":{"name":"x"}}`:                                      `{"kind":"Secret","data":null,"metadata":{"name":"x"}}`,
		`{"kind":"ConfigMap","data":{"a":"x"}}`:                                                      `{"kind":"ConfigMap","data":{"a":"x"}}`,
	} {
		var got, wanted map[string]any
		if err := errors.Join(json.Unmarshal([]byte(in), &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		report.MaskSecret(got)
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

// BenchmarkCompare10000 compares 10,000 objects in 100 roots, all of which differ.
func BenchmarkCompare10000(b *testing.B) {
	files := func(value string) fstest.MapFS {
		fsys := fstest.MapFS{}
		for i := range 10_000 {
			name := fmt.Sprintf("r%02d/c%02d.yaml", i/100, i%100)
			fsys[name] = &fstest.MapFile{Data: []byte(deployment(fmt.Sprintf("c%d", i), 3) + "# " + value + "\n---\n" + strings.ReplaceAll(deployment(fmt.Sprintf("d%d", i), 3), "c:1", "c:"+value))}
		}
		return fsys
	}
	in := inputOf(files("1"), files("2"))
	b.ReportAllocs()
	for b.Loop() {
		c, err := scanner.Compare(b.Context(), in)
		if err != nil || len(c.Changes.Objects) != 10_000 || c.Changes.LeftOut != 0 {
			b.Fatalf("%d changes, %d left out: %v", len(c.Changes.Objects), c.Changes.LeftOut, err)
		}
	}
}
