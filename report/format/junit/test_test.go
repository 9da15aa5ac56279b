package junit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
)

// TestWriteTestEscapesNames: the names of directories and requests of a suite are escaped as
// all other texts of a repository are, and failures are still found by their request.
func TestWriteTestEscapesNames(t *testing.T) {
	name := "a\u202e\u009b##[add-mask]b"
	r := &report.SuiteReport{Suites: []*report.SuiteResult{{
		Dir: "suites/" + name, Compared: map[string]bool{name: true},
		Verdicts: []report.SuiteVerdict{{Name: name}},
		Failures: []report.SuiteFailure{{Request: name, Differences: []report.Difference{{Field: "allowed", Expected: true, Actual: false}}}},
	}}}
	var out bytes.Buffer
	if err := WriteTest(&out, r); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\u202e\u009b") || strings.Contains(out.String(), "##[") {
		t.Errorf("not safe to print:\n%s", out.String())
	}
	for _, want := range []string{`<testsuite name="suites/a\u202e\u009b##\u005badd-mask]b" tests="1" failures="1"`, `<testcase name="a\u202e\u009b##\u005badd-mask]b"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the document lacks %s:\n%s", want, out.String())
		}
	}
}
