package scanner_test

import (
	"testing"

	"github.com/preadmit/preadmit/scanner/change"
)

func TestUnder(t *testing.T) {
	for _, tt := range []struct {
		dir, name string
		want      bool
	}{
		{"", "a", true}, {".", ".", true}, {"a", "a", true}, {"a", "a/b", true},
		{"a/", "a/b", true}, {"a", "ab", false}, {"a/b", "a", false}, {"a", ".", false},
	} {
		if got := change.Under(tt.dir, tt.name); got != tt.want {
			t.Errorf("Under(%q, %q) = %v, want %v", tt.dir, tt.name, got, tt.want)
		}
	}
}
