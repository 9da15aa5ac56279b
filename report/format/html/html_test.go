package html

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report/format/escape"
)

// The hash is that of the unguarded style sheet, so guarding must not change it.
func TestStylesheetNeedsNoGuard(t *testing.T) {
	if escape.GuardHTML(style) != style {
		t.Error("the style sheet would not be what its hash is of")
	}
}

// TestUnbroken: lines break in a list of counts only after commas, and in a long count after
// its first word.
func TestUnbroken(t *testing.T) {
	got := strings.ReplaceAll(Unbroken("3 denied, 1 would be denied if the proposed policies were in force, 4 not judged, 2 warnings (1 existing)"), "\u00a0", "_")
	if want := "3_denied, 1_would be denied if the proposed policies were in force, 4_not_judged, 2_warnings_(1_existing)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
