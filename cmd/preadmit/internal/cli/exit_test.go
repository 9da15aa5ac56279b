package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestExitCode(t *testing.T) {
	tests := []struct {
		err  error
		want int
		says string
	}{
		{nil, 0, ""},
		{ErrFindings, 1, ""},
		{Usagef("wrong flag"), 2, "preadmit: wrong flag\n"},
		{fmt.Errorf("wrapped: %w", Usagef("wrong flag")), 2, "preadmit: wrapped: wrong flag\n"},
		{errors.New("disk full"), 3, "preadmit: disk full\n"},
		{context.Canceled, 3, "preadmit: interrupted\n"},
	}
	for _, test := range tests {
		var stderr strings.Builder
		if got := ExitCode(&stderr, test.err); got != test.want || stderr.String() != test.says {
			t.Errorf("ExitCode(%v) = %d, %q; want %d, %q", test.err, got, stderr.String(), test.want, test.says)
		}
	}
}

// TestGuarded: what an error quotes is no workflow command, and it keeps its exit
// code.
func TestGuarded(t *testing.T) {
	var stderr strings.Builder
	code := ExitCode(&stderr, Guarded(Usagef("configuration:\n  ::add-mask::x\n##[error]y")))
	if code != ExitUsage || stderr.String() != "preadmit: configuration:\n  \\u003a:add-mask::x\n##\\u005berror]y\n" {
		t.Errorf("exit code %d:\n%s", code, &stderr)
	}
	if Guarded(nil) != nil || ExitCode(&stderr, Guarded(ErrFindings)) != ExitFindings {
		t.Error("what is no mistake is one now")
	}
}
