package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/internal/testall"
)

// TestLive runs the command on suites that agree, and on one whose record is wrong,
// with the programs that make conformance-live builds.
func TestLive(t *testing.T) {
	testall.Long(t)
	bin, err := filepath.Abs("../bin/e2e")
	if err != nil {
		t.Fatal(err)
	}
	preadmit, apiServer := filepath.Join(bin, "preadmit"), filepath.Join(bin, "kube-apiserver")
	if _, err := os.Stat(preadmit); err != nil {
		t.Skip("there is no preadmit to compare with: make conformance-live builds it")
	}
	if _, err := live.FindBinaries(apiServer); err != nil {
		t.Skip("there is no API server: ", err)
	}
	wrong, data := wrongSuite(t)
	record := filepath.Join(wrong, "expected.yaml")
	run := func(want int, args ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		args = append([]string{"-preadmit", preadmit, "-apiserver", apiServer}, args...)
		if code := Main(t.Context(), args, &stdout, &stderr); code != want {
			t.Fatalf("exit code %d, want %d:\n%s%s", code, want, &stdout, &stderr)
		}
		return stdout.String()
	}
	report := run(exitDifference, "-update", wrong, "../examples/suite")
	if !strings.Contains(report, "RECORD   "+wrong) || strings.Contains(report, "PREADMIT") {
		t.Errorf("want only the record to differ:\n%s", report)
	}
	written, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != string(data) {
		t.Errorf("-update wrote\n%s\nwant\n%s", written, data)
	}
	run(exitAgreement, "-updates", "20", wrong)
}

// wrongSuite copies a suite and turns a refusal in its record into the opposite. It
// returns the directory and the right record.
func wrongSuite(t *testing.T) (dir string, record []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "wrong")
	if err := os.CopyFS(dir, os.DirFS("../scanner/suite/testdata/conformance/actions-each")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "expected.yaml")
	record, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(record), "allowed: false", "allowed: true", 1)
	if changed == string(record) {
		t.Fatal("the suite has no refusal")
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, record
}
