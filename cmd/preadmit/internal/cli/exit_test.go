package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
		{Usagef("PATH: %w", &fs.PathError{Op: "stat", Path: "a/b", Err: fs.ErrNotExist}), 2, "preadmit: PATH: there is no file or directory a/b: check the name, and that it is relative to the current directory\n"},
		{Usagef("PATH: %w", &fs.PathError{Op: "stat", Path: "/b", Err: fs.ErrNotExist}), 2, "preadmit: PATH: there is no file or directory /b: check the name\n"},
		{Usagef("--config: %w", &fs.PathError{Op: "open", Path: "c", Err: fs.ErrPermission}), 2, "preadmit: --config: open c: permission denied: name one that this user may read\n"},
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

// TestErrorsAreEscaped: text that an error quotes is not interpreted by a terminal or as a workflow command.
func TestErrorsAreEscaped(t *testing.T) {
	var stderr strings.Builder
	code := ExitCode(&stderr, Usagef("configuration:\n  ::add-mask::x\n##[error]\u202ey"))
	if code != ExitUsage || stderr.String() != "preadmit: configuration:\n  \\u003a:add-mask::x\n##\\u005berror]\\u202ey\n" {
		t.Errorf("exit code %d:\n%s", code, &stderr)
	}
}
