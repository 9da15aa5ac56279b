package locate_test

import (
	"testing"

	"github.com/preadmit/preadmit/render/helm/locate"
)

// TestLineIn checks that keys are case-sensitive: those of a schema may differ only in case.
func TestLineIn(t *testing.T) {
	const text = "proxyURL: a\nproxyUrl: b\nname: &name web\nother: *name\nbase: &base {x: 1}\nmore:\n  <<: *base\n  list: [1, {y: 2}]\n"
	for _, test := range []struct {
		path []any
		line int
	}{
		{[]any{"proxyURL"}, 1},
		{[]any{"proxyUrl"}, 2},
		{[]any{"PROXYURL"}, 0},
		{[]any{"other"}, 3}, // the line to change
		{[]any{"more", "x"}, 5},
		{[]any{"more", "list", 1, "y"}, 8},
		{[]any{"more", "list", 2}, 0},
		{[]any{"name", "x"}, 0},
	} {
		if line, _ := (&locate.Leaf{Path: test.path}).LineIn([]byte(text)); line != test.line {
			t.Errorf("%v is on line %d, want %d", test.path, line, test.line)
		}
	}
}
