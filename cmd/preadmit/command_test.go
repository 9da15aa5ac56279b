package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestExitCode(t *testing.T) {
	tests := []struct {
		err  error
		want int
		says string
	}{
		{nil, 0, ""},
		{errFindings, 1, ""},
		{usagef("wrong flag"), 2, "preadmit: wrong flag\n"},
		{fmt.Errorf("wrapped: %w", usagef("wrong flag")), 2, "preadmit: wrapped: wrong flag\n"},
		{errors.New("disk full"), 3, "preadmit: disk full\n"},
		{context.Canceled, 3, "preadmit: interrupted\n"},
	}
	for _, test := range tests {
		var stderr strings.Builder
		if got := exitCode(&stderr, test.err); got != test.want || stderr.String() != test.says {
			t.Errorf("exitCode(%v) = %d, %q; want %d, %q", test.err, got, stderr.String(), test.want, test.says)
		}
	}
}

func TestMainCrash(t *testing.T) {
	var stderr bytes.Buffer
	code := Main(t.Context(), []string{"version"}, Process{Stdout: crashing{}, Stderr: &stderr})
	if code != exitIncomplete || !strings.Contains(stderr.String(), "crashed, this is a bug: told to") {
		t.Errorf("code %d, stderr %q; want %d and a word about the bug", code, stderr.String(), exitIncomplete)
	}
	if strings.Contains(stderr.String(), "\n::") || strings.Contains(stderr.String(), "\x1b") || strings.Contains(stderr.String(), `\t`) {
		t.Errorf("a log would obey %q", stderr.String())
	}
}

type crashing struct{}

func (crashing) Write([]byte) (int, error) { panic("told to\n::stop-commands::x\x1b[2J") }

func TestMainInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := Main(ctx, []string{"scan", "testdata/fixture"}, Process{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != exitIncomplete || stderr.String() != "preadmit: interrupted\n" || stdout.Len() > 0 {
		t.Errorf("code %d, stdout %q, stderr %q; want %d and a word about the interruption",
			code, stdout.String(), stderr.String(), exitIncomplete)
	}
}

func TestMainInterruptedAtStdin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent, writer := io.Pipe()
	defer writer.Close()
	time.AfterFunc(10*time.Millisecond, cancel)
	var stderr bytes.Buffer
	code := Main(ctx, []string{"scan", "--context", "-", "testdata/fixture"}, Process{
		Stdin: silent, Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != exitIncomplete || stderr.String() != "preadmit: interrupted\n" {
		t.Errorf("code %d, stderr %q; want %d and a word about the interruption", code, stderr.String(), exitIncomplete)
	}
}

func TestMainBrokenPipe(t *testing.T) {
	var stderr bytes.Buffer
	code := Main(t.Context(), []string{"scan", "--policies", "testdata/fixture", t.TempDir()}, Process{
		Stdin: strings.NewReader(""), Stdout: failing{}, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != exitIncomplete || !strings.Contains(stderr.String(), "gone away") {
		t.Errorf("code %d, stderr %q; want %d: nobody read the report", code, stderr.String(), exitIncomplete)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("reader gone away") }
