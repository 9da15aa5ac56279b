package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// BenchmarkScan1000x20Updates is BenchmarkScan1000x20 with updates by Flux: the base has the
// Deployments with another image. It reports the ratio of processor time to that of their creation.
func BenchmarkScan1000x20Updates(b *testing.B) {
	binary, head := buildProgram(b), writeScan1000x20(b)
	base := imagesBefore(b, head)
	var creations, updates time.Duration
	for b.Loop() {
		creations += processorTime(b, exec.Command(binary, "scan", "--format", "json", head))
		updates += processorTime(b, exec.Command(binary, "scan", "--format", "json", "--base-path", base, head))
	}
	b.ReportMetric(float64(updates)/float64(creations), "of-creations")
}

// BenchmarkScan1000x20UpdatesInProcess scans the updates in this process, for profiling.
func BenchmarkScan1000x20UpdatesInProcess(b *testing.B) {
	head := writeScan1000x20(b)
	base := imagesBefore(b, head)
	for b.Loop() {
		code := Main(b.Context(), []string{"scan", "--format", "json", "--base-path", base, head}, cli.Process{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr, Getenv: func(string) string { return "" },
		})
		if code != 0 { // all failures exist in the base too
			b.Fatalf("exit code %d", code)
		}
	}
}

// imagesBefore writes a copy of a repository with other images.
func imagesBefore(b *testing.B, head string) (base string) {
	b.Helper()
	base = b.TempDir()
	if err := os.CopyFS(base, os.DirFS(head)); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(base, "apps", "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.ReplaceAll(text, []byte(":1."), []byte(":0.")), 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return base
}
