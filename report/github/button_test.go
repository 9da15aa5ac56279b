package github

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestButton: a completed check run has a button if Rescan is set, and one in progress has
// none.
func TestButton(t *testing.T) {
	for identifier, want := range map[string][]githubtest.Action{
		"":                      nil,
		strings.Repeat("r", 20): {{Label: "Scan again", Description: "Has this judged anew, as it is now.", Identifier: strings.Repeat("r", 20)}},
	} {
		s, r := hub(t, githubtest.Config{}), findings(60)
		changed(s, r)
		p, _ := publisher(t, s, pullTarget(), Options{Rescan: identifier})
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := s.CheckRuns()[0].Actions; len(got) > 0 {
			t.Errorf("in progress: %v", got)
		}
		if _, err := p.Finish(context.Background(), r, CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.CheckRuns()[0].Actions); diff != "" {
			t.Errorf("%q (-want +got):\n%s", identifier, diff)
		}
	}
	if _, err := New(pullTarget(), Options{Rescan: strings.Repeat("r", 21)}); err == nil {
		t.Error("an identifier of 21 characters is taken")
	}
}
