package render_test

import (
	"testing"

	"github.com/preadmit/preadmit/render"
)

// TestCutSOPS checks that files are only cut if nothing but metadata of SOPS follows.
func TestCutSOPS(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		ok         bool
	}{
		"at the end":  {"a: 1\nsops:\n    mac: x\n    kms:\n    - arn: y\n\n", "a: 1\n", true},
		"in between":  {"a: 1\nsops:\n    mac: x\nb: 2\n", "", false},
		"twice":       {"a: 1\nsops:\n    mac: x\nsops:\n    mac: x\n", "", false},
		"nothing":     {"a: 1\n", "", false},
		"of one line": {"a: 1\nsops: {mac: x}\n", "", false},
		"a value":     {"a: |\n  b\n  sops:\n    c\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			text, ok := render.CutSOPS(c.file)
			if c.text == "" {
				c.text = c.file
			}
			if text != c.text || ok != c.ok {
				t.Errorf("%q, %t", text, ok)
			}
		})
	}
}
