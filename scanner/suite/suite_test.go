package suite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/preadmit/preadmit/internal/testall"
)

// TestConformance runs the suites recorded from a real kube-apiserver.
func TestConformance(t *testing.T) {
	runAll(t, "testdata/conformance")
}

func runAll(t *testing.T, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	agreed, suites := 0, 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		suites++
		if t.Run(e.Name(), func(t *testing.T) { runSuite(t, filepath.Join(dir, e.Name())) }) {
			agreed++
		}
	}
	t.Logf("%d of %d suites agree in every field", agreed, suites)
}

func runSuite(t *testing.T, dir string) {
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Test(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Failures {
		t.Errorf("%q fails: %+v", f.Request, f.Differences)
	}
	if diff := cmp.Diff(s.Expected.PolicyErrors, got.PolicyErrors, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(PolicyError{})); diff != "" {
		t.Errorf("policyErrors (-recorded +ours):\n%s", diff)
	}
	for i, want := range s.Expected.Verdicts {
		if j := got.Verdicts[i].review; j != nil {
			if _, err := explained(t.Context(), j); err != nil {
				t.Errorf("%s: %v", want.Name, err)
			}
		}
		ours := Align(want, got.Verdicts[i])
		if diff := cmp.Diff(want, ours, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Verdict{})); diff != "" {
			t.Errorf("%s (-recorded +ours):\n%s", want.Name, diff)
		}
	}
}

// TestRecordedCollections runs suites recorded from public policy collections, which are not part
// of this repository. They are in the directory PREADMIT_CONFORMANCE, or by default in
// ../shared/conformance/real-world next to the repository.
func TestRecordedCollections(t *testing.T) {
	testall.Long(t)
	dir := os.Getenv("PREADMIT_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance", "real-world")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded collections: %v", err)
	}
	runAll(t, dir)
}
