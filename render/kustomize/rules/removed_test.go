package rules

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestSameElement tells elements of lists by all the merge keys that both have.
func TestSameElement(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"{name: a, image: x}", "{name: a}", true},
		{"{name: a}", "{name: b}", false},
		{"{name: v, mountPath: /a}", "{name: v, mountPath: /b}", false},
		{"{name: v, mountPath: /a}", "{mountPath: /a}", true},
		{"{name: dns, containerPort: 53}", "{name: dns-tcp, containerPort: 53}", false},
		{"{image: x}", "{image: x}", false},
	} {
		if got := sameElement(nodeOf(t, test.a), nodeOf(t, test.b)); got != test.want {
			t.Errorf("%s and %s: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func nodeOf(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}
