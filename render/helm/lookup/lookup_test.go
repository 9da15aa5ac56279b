package lookup_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/lookup"
)

// TestStoredSecretHasNoValues checks that a chart sees the keys of a Secret, but none of its values.
func TestStoredSecretHasNoValues(t *testing.T) {
	o := &render.Object{JSON: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"x":"aHVudGVyMg=="},"stringData":{"y":"hunter2"}}`)}
	text, unknown, ok := lookup.Stored("Secret", o)
	if !ok || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "aHVudGVyMg") || !strings.Contains(string(text), `"x"`) || !strings.Contains(string(text), `"y"`) || strings.Contains(string(text), "stringData") {
		t.Errorf("got %s, %v", text, ok)
	}
	if len(unknown) != 5 {
		t.Errorf("%d unknown fields, want x, y and three of the server: %v", len(unknown), unknown)
	}
}

// TestOf checks which queries are answered, and which objects a cluster makes itself.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		apiVersion, kind, namespace, name string
		want                              bool
	}{
		{"v1", "ConfigMap", "a", "b", true},
		{"v1", "ConfigMap", "a", "", false}, // each namespace has kube-root-ca.crt
		{"v1", "ConfigMap", "a", "kube-root-ca.crt", false},
		{"v1", "ConfigMap", "kube-system", "b", false},
		{"v1", "ConfigMap", "", "b", false}, // no server has it
		{"v1", "Secret", "a", "b", true},
		{"v1", "Secret", "a", "sh.helm.release.v1.b.v1", false},
		{"v1", "Namespace", "", "default", false},
		{"v1", "Namespace", "", "shop", true},
		{"v1", "ServiceAccount", "a", "default", false},
		{"v1", "Service", "default", "kubernetes", false},
		{"v1", "Pod", "a", "b", false}, // controllers make some
		{"apps/v1", "Deployment", "a", "", true},
		{"apps/v1beta1", "Deployment", "a", "", false},
		{"example.com/v1", "Thing", "a", "b", false},
		{"a/b/c", "ConfigMap", "a", "b", false},
	} {
		q := render.Query{APIVersion: test.apiVersion, Kind: test.kind, Namespace: test.namespace, Name: test.name}
		if _, got := lookup.Of(q); got != test.want {
			t.Errorf("%+v: answered %v, want %v", q, got, test.want)
		}
	}
}

// TestMatch checks that an object with an unknown name may match.
func TestMatch(t *testing.T) {
	w, _ := lookup.Of(render.Query{APIVersion: "v1", Kind: "ConfigMap", Namespace: "a", Name: "b"})
	for _, test := range []struct {
		json    string
		unknown []string
		want    lookup.Matching
	}{
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"a"}}`, nil, lookup.Matches},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"c"}}`, nil, lookup.Differs},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"a"}}`, nil, lookup.Differs},
		{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b","namespace":"a"}}`, nil, lookup.Differs},
		{`{"apiVersion":"x.io/v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"a"}}`, nil, lookup.Differs},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`, nil, lookup.MayMatch},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"a"}}`, []string{"metadata", "name"}, lookup.MayMatch},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"a"}}`, []string{}, lookup.MayMatch},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"a"}}`, []string{"data", "x"}, lookup.Matches},
		{`[`, nil, lookup.MayMatch},
	} {
		o := &render.Object{JSON: []byte(test.json)}
		if test.unknown != nil {
			o.Unknown = []render.Unknown{{Path: test.unknown}}
		}
		if got := w.Match(o); got != test.want {
			t.Errorf("%s, unknown %q: got %v, want %v", test.json, test.unknown, got, test.want)
		}
	}
}
