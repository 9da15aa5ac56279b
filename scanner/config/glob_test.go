package config

import (
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/cputime"
)

func TestMatchGlob(t *testing.T) {
	tests := []struct {
		glob, name string
		want       bool
	}{
		{"overlays/prod", "overlays/prod", true},
		{"overlays/prod/", "overlays/prod", true},
		{"./overlays/prod", "overlays/prod", true},
		{"overlays/*", "overlays/prod", true},
		{"overlays/*", "overlays/prod/eu", false},
		{"overlays/*", "overlays", false},
		{"overlays/**", "overlays/prod/eu", true},
		{"overlays/**", "overlays", true},
		{"overlays/**", "overlaysx/prod", false},
		{"**", ".", true},
		{"**", "a/b/c", true},
		{".", ".", true},
		{"*", ".", false},
		{"*", "apps", true},
		{"**/prod", "prod", true},
		{"**/prod", "apps/shop/prod", true},
		{"**/prod", "apps/shop/production", false},
		{"apps/**/prod", "apps/prod", true},
		{"apps/**/prod", "apps/a/b/prod", true},
		{"apps/**/overlays/*", "apps/a/overlays/b/overlays/prod", true},
		{"apps/**/overlays/**/eu", "apps/a/overlays/b/c/eu", true},
		{"apps/**/overlays/**/eu", "apps/a/overlays/b/c/us", false},
		{"apps/**/**/eu", "apps/eu", true},
		{"apps/[ab]?", "apps/b1", true},
		{"apps/[ab]?", "apps/c1", false},
		{"apps/[", "apps/[", false},
	}
	for _, tt := range tests {
		if got := MatchGlob(tt.glob, tt.name); got != tt.want {
			t.Errorf("MatchGlob(%q, %q) = %v, want %v", tt.glob, tt.name, got, tt.want)
		}
	}
}

func TestChooses(t *testing.T) {
	tests := []struct {
		globs string
		names string
		want  bool
	}{
		{"", "apps", false},
		{"apps/*", "apps/a", true},
		{"apps/* !apps/old", "apps/a", true},
		{"apps/* !apps/old", "apps/old", false},
		{"!apps/old apps/*", "apps/old", false},
		{"!apps/old", "apps/a", true},
		{"!apps/old", "apps/old/prod", false},
		{"!apps/old", "apps/older", true},
		{"!**/test", "a/test/b", false},
		{"!test*", "a/tests", true},
		{"!.", ".", false},
		{"!.", "apps", true},
		{"!clusters/old", "apps/a clusters/old", false},
		{"clusters/new", "apps/a clusters/new", true},
		{"clusters/new !apps", "apps/a clusters/new", false},
	}
	for _, tt := range tests {
		if got := Chooses(strings.Fields(tt.globs), strings.Fields(tt.names)...); got != tt.want {
			t.Errorf("Chooses(%s, %s) = %v, want %v", tt.globs, tt.names, got, tt.want)
		}
	}
}

// A glob comes from a configuration file, so matching it must not take long.
func TestMatchGlobIsPolynomial(t *testing.T) {
	glob := strings.Repeat("**/a/", 40) + "b"
	name := strings.Repeat("a/", 200) + "c"
	start := cputime.Used()
	if MatchGlob(glob, name) {
		t.Error("matched")
	}
	if spent := cputime.Used() - start; spent > time.Second {
		t.Errorf("took %v", spent)
	}
}
