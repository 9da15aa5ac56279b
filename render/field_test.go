package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

func TestField(t *testing.T) {
	o := &render.Object{JSON: []byte(`{"metadata":{"labels":{"app":"web","example.com/team":"shop","0":"zero","a\"]b":"odd","":"none"}},` +
		`"spec":{"containers":[{"name":"c","args":[]}],"none":null,"n":2}}`)}
	tests := []struct {
		path  string
		want  any
		found bool
	}{
		{"spec.n", int64(2), true},
		{".spec.n", int64(2), true},
		{"spec.none", nil, true},
		{"spec.containers[0].name", "c", true},
		{"spec.containers[0].args", []any{}, true},
		{"metadata.labels[app]", "web", true},
		{"metadata.labels.example.com/team", "shop", true},
		{"metadata.labels[example.com/team]", "shop", true},
		{"metadata.labels['example.com/team']", "shop", true},
		{"metadata.labels[0]", "zero", true},
		{"spec.containers[1].name", nil, false},
		{"spec.containers.name", nil, false},
		{"spec.n.deeper", nil, false},
		{"spec.n[0]", nil, false},
		{"spec.missing", nil, false},
	}
	for _, test := range tests {
		got, found := origin.Field(o.Content(), test.path)
		if found != test.found || !cmp.Equal(got, test.want) {
			t.Errorf("Field(%q) = %v, %v; want %v, %v", test.path, got, found, test.want, test.found)
		}
	}
}

func TestAppendKey(t *testing.T) {
	tests := []struct{ path, key, want string }{
		{"", "spec", "spec"},
		{"spec", "replicas", "spec.replicas"},
		{"metadata.labels", "example.com/team", "metadata.labels[example.com/team]"},
		{"data", "a[0]", `data["a[0]"]`},
		{"data", `a"]b`, `data['a"]b']`},
		{"data", "", `data[""]`},
		{"data", `"quoted"`, `data[""quoted""]`},
	}
	for _, test := range tests {
		got := origin.AppendKey(test.path, test.key)
		if got != test.want {
			t.Errorf("AppendKey(%q, %q) = %q, want %q", test.path, test.key, got, test.want)
		}
		content := map[string]any{test.key: "top"}
		if v, found := origin.Field(content, origin.AppendKey("", test.key)); !found || v != "top" {
			t.Errorf("the key %q is not found at %q", test.key, origin.AppendKey("", test.key))
		}
	}
}
