package origin_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
)

// TestSameElement checks that elements of lists are compared by all the merge keys that both have. Without a
// common one it is unknown whether they are the same.
func TestSameElement(t *testing.T) {
	for _, test := range []struct {
		a, b        string
		want, other bool
	}{
		{"{name: a, image: x}", "{name: a}", true, false},
		{"{name: a}", "{name: b}", false, true},
		{"{name: v, mountPath: /a}", "{name: v, mountPath: /b}", false, true},
		{"{name: v, mountPath: /a}", "{mountPath: /a}", true, false},
		{"{name: dns, containerPort: 53}", "{name: dns-tcp, containerPort: 53}", false, true},
		{"{image: x}", "{image: x}", false, false},
	} {
		if got := origin.SameElement(nodeOf(t, test.a), nodeOf(t, test.b)); got != test.want {
			t.Errorf("%s and %s: %v, want %v", test.a, test.b, got, test.want)
		}
		if other := origin.OtherElement(nodeOf(t, test.a), nodeOf(t, test.b)); other != test.other {
			t.Errorf("%s and %s are others: %v, want %v", test.a, test.b, other, test.other)
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
