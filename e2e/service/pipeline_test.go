package service

import (
	"strings"
	"testing"
)

// TestPull: from the webhook to a completed check run, a comment and SARIF.
func TestPull(t *testing.T) {
	w := newWorld(t)
	r := w.start(t.TempDir(), nil)
	number := w.pull(w.shop, "change", "deny")
	pull := w.shop.Pull(number)
	w.judged(pull.HeadSHA, "failure", "1 denied")
	comments := w.comments(w.shop, number)
	if len(comments) != 1 || !strings.Contains(comments[0], "the key deny is not for us") {
		t.Errorf("comments: %q", comments)
	}
	sarifs := w.hub.SARIFs()
	if len(sarifs) == 0 || !strings.Contains(string(sarifs[len(sarifs)-1].Log), "app/change.yaml") {
		t.Errorf("%d SARIF uploads", len(sarifs))
	}
	if code := r.stop(); code != 0 {
		t.Errorf("the service ended with %d", code)
	}
}
