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

// BenchmarkScan1000x20Updates is BenchmarkScan1000x20 of Deployments that the base has with another
// image, which Flux applies. It reports how often the processor time of their creation that takes.
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

// BenchmarkScan1000x20UpdatesInProcess is the updates without the process, to be profiled.
func BenchmarkScan1000x20UpdatesInProcess(b *testing.B) {
	head := writeScan1000x20(b)
	base := imagesBefore(b, head)
	for b.Loop() {
		code := Main(b.Context(), []string{"scan", "--format", "json", "--base-path", base, head}, cli.Process{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr, Getenv: func(string) string { return "" },
		})
		if code != 0 { // all that fails did before
			b.Fatalf("exit code %d", code)
		}
	}
}

// imagesBefore writes the repository of a directory with other images.
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
