package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

func TestMainCrash(t *testing.T) {
	var stderr bytes.Buffer
	code := Main(t.Context(), []string{"version"}, cli.Process{Stdout: crashing{}, Stderr: &stderr})
	if code != cli.ExitIncomplete || !strings.Contains(stderr.String(), "crashed, this is a bug: told to") {
		t.Errorf("code %d, stderr %q; want %d and a word about the bug", code, stderr.String(), cli.ExitIncomplete)
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
	code := Main(ctx, []string{"scan", "testdata/fixture"}, cli.Process{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != cli.ExitIncomplete || stderr.String() != "preadmit: interrupted\n" || stdout.Len() > 0 {
		t.Errorf("code %d, stdout %q, stderr %q; want %d and a word about the interruption",
			code, stdout.String(), stderr.String(), cli.ExitIncomplete)
	}
}

func TestMainInterruptedAtStdin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent, writer := io.Pipe()
	defer writer.Close()
	time.AfterFunc(10*time.Millisecond, cancel)
	var stderr bytes.Buffer
	code := Main(ctx, []string{"scan", "--context", "-", "testdata/fixture"}, cli.Process{
		Stdin: silent, Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != cli.ExitIncomplete || stderr.String() != "preadmit: interrupted\n" {
		t.Errorf("code %d, stderr %q; want %d and a word about the interruption", code, stderr.String(), cli.ExitIncomplete)
	}
}

func TestMainBrokenPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "map.yaml"), []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := Main(t.Context(), []string{"scan", "--policies", "testdata/fixture", dir}, cli.Process{
		Stdin: strings.NewReader(""), Stdout: failing{}, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != cli.ExitIncomplete || !strings.Contains(stderr.String(), "gone away") {
		t.Errorf("code %d, stderr %q; want %d: nobody read the report", code, stderr.String(), cli.ExitIncomplete)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("reader gone away") }
