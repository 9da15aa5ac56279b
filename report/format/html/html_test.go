package html

import (
	"testing"

	"github.com/preadmit/preadmit/report/format/escape"
)

// The hash of the style sheet is of the text as it is: it must have nothing to guard.
func TestStylesheetNeedsNoGuard(t *testing.T) {
	if escape.GuardHTML(style) != style {
		t.Error("the style sheet would not be what its hash is of")
	}
}
