package suite

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/release"
)

// minorVariable is the environment variable with the minor version that the test program imitates.
const minorVariable = "PREADMIT_TEST_MINOR"

// latest is the minor version from which suites are recorded.
const latest = "1.36"

// imitate makes the process imitate the API server of the version in minorVariable.
func imitate() error {
	minor := os.Getenv(minorVariable)
	if minor == "" {
		return nil
	}
	version, err := release.ParseVersion(minor)
	if err != nil {
		return err
	}
	return emulation.Set(release.Release{Version: version})
}

// TestMinorVersions runs the suites as the API servers of 1.34 to 1.36 and compares the verdicts with
// recorded ones (`make conformance-live MINOR=1.35 UPDATE=1`). Records that differ from those of the
// latest version are in testdata/records. Feature gates are global to a process, so each version runs
// in its own.
func TestMinorVersions(t *testing.T) {
	if os.Getenv(minorVariable) != "" {
		t.Skip("this is the child")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, minor := range []string{"1.34", "1.35", latest} {
		t.Run(minor, func(t *testing.T) {
			c := exec.Command(program, "-test.run=^TestAsMinorVersion$", "-test.v")
			c.Env = append(os.Environ(), minorVariable+"="+minor)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestAsMinorVersion") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestAsMinorVersion is run by TestMinorVersions for one version.
func TestAsMinorVersion(t *testing.T) {
	minor := os.Getenv(minorVariable)
	if minor == "" {
		t.Skip("TestMinorVersions runs it in a process of its own")
	}
	known := knownDifferences(t, minor)
	requests, met := 0, map[string]bool{}
	for _, dir := range testall.Sample(suitesFor(t), 40) {
		s, err := withRecord(dir, filepath.Join("testdata", "records", minor, filepath.Base(dir), ExpectedFile))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Test(t.Context(), func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		requests += len(r.Verdicts)
		for _, f := range r.Failures {
			for _, d := range f.Differences {
				request := f.Request
				if request == "" {
					request = "policies"
				}
				name := fmt.Sprintf("%s: %s: %s", filepath.Base(dir), request, d.Field)
				if known[name] {
					met[name] = true
					continue
				}
				t.Errorf("%s\n    server: %v\n    preadmit: %v", name, d.Expected, d.Actual)
			}
		}
		for _, v := range r.Verdicts {
			if !slices.ContainsFunc(s.Expected.Verdicts, func(e Verdict) bool { return e.Name == v.Name }) && (v.Allowed || v.Code != 404) {
				t.Errorf("%s: %s: allowed %v, code %d, want 404: the server has no such kind", dir, v.Name, v.Allowed, v.Code)
			}
		}
	}
	for name := range known {
		if !met[name] && testall.Enabled() {
			t.Errorf("%s is no difference any more: take it out of the list", name)
		}
	}
	t.Logf("Kubernetes %s: %d requests, %d known differences", minor, requests, len(known))
	if requests < 300 && testall.Enabled() {
		t.Errorf("%d requests are not many", requests)
	}
}

// suitesFor returns the directories of the suites for servers of all versions: those without
// MutatingAdmissionPolicies, which are served from 1.36 on.
func suitesFor(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, parent := range []string{"conformance", "versions"} {
		found, err := Find(filepath.Join("testdata", parent))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return slices.DeleteFunc(all, func(dir string) bool {
		policies, _ := os.ReadFile(filepath.Join(dir, PoliciesFile))
		return strings.Contains(string(policies), "kind: MutatingAdmissionPolicy")
	})
}

// withRecord opens a suite with another record if there is one.
func withRecord(dir, record string) (*Suite, error) {
	data, err := os.ReadFile(record)
	if os.IsNotExist(err) {
		return Open(dir)
	}
	files := fstest.MapFS{ExpectedFile: {Data: data}}
	for _, name := range []string{RequestsFile, PoliciesFile, ContextFile} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			files[name] = &fstest.MapFile{Data: data}
		}
	}
	return Load(files)
}

// knownDifferences returns the known differences of emulation, one per line as SUITE: REQUEST: FIELD.
func knownDifferences(t *testing.T, minor string) map[string]bool {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "records", minor, "differences.txt"))
	if minor == latest && os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	known := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			known[line] = true
		}
	}
	return known
}
