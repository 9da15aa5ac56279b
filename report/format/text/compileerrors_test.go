package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report/format/excerpt"
)

// TestErrorsOfOneLine: consecutive errors in the same line show it once, errors in other lines show
// their own, and nothing else changes.
func TestErrorsOfOneLine(t *testing.T) {
	message := strings.Split(`compilation failed: ERROR: <input>:2:1: no a
 | a.b(c)
 | ^
ERROR: <input>:2:5: no c
 | a.b(c)
 | ....^
ERROR: <input>:3:1: no d
 | d
 | ^
something else
 | d
 | ^`, "\n")
	merged, at := mergeErrors(message)
	want := []string{"compilation failed: ERROR: <input>:2:1: no a", "ERROR: <input>:2:5: no c", "", "ERROR: <input>:3:1: no d", "", "something else", " | d", " | ^"}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Error(diff)
	}
	if at[2] != (markedLine{"a.b(c)", "^...^"}) || at[4] != (markedLine{"d", "^"}) || len(at) != 2 {
		t.Errorf("got %v", at)
	}
	shown := []excerpt.Line{{Number: 7, Text: "  x: |"}, {Text: "     ^ x"}, {Number: 8, Text: "    a.b(c)"}}
	if number, offset, ok := at[2].shownIn(shown); number != 8 || offset != 4 || !ok {
		t.Errorf("got line %d, %d, %v", number, offset, ok)
	}
	if _, _, ok := at[4].shownIn(shown); ok {
		t.Error("a line is shown that is not")
	}
	if _, _, ok := at[2].shownIn(append(shown, excerpt.Line{Number: 9, Text: "a.b(c)"})); ok {
		t.Error("one of two lines is taken")
	}
}
