package report_test

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// saved is what `preadmit scan --format json` writes.
const saved = `{
  "apiVersion": "preadmit.dev/v1alpha1",
  "kind": "ScanReport",
  "tool": {"name": "preadmit", "version": "v0.1.0", "kubernetes": "v1.36.3"},
  "change": {"base": {"name": "main"}, "head": {"name": "feature"}},
  "findings": [{
    "fingerprint": "6f1b2a3c4d5e6f708192a3b4c5d6e7f8",
    "status": "new",
    "action": "Warn",
    "actions": ["Warn"],
    "cause": "validation",
    "policies": "inForce",
    "policy": "replicas",
    "validation": 0,
    "message": "at most 5 replicas",
    "operation": "UPDATE",
    "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
    "root": "overlays/prod",
    "location": {"path": "overlays/prod/replicas.yaml", "startLine": 7, "exact": true, "tree": "head"}
  }],
  "indeterminate": [],
  "diagnostics": [],
  "summary": {
    "requests": 1, "evaluations": 1, "findings": {"Warn": {"new": 1}},
    "roots": {"rendered": 1, "failed": 0, "failedBefore": 0, "indeterminate": 0, "lost": 0, "untouched": 0},
    "policies": 1,
    "durations": {"discover": 0, "render": 0, "judge": 0, "locate": 0, "total": 0}
  }
}`

func ExampleRead() {
	r, err := report.Read(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range r.Findings {
		fmt.Printf("%s:%d: %s\n", f.Location.Path, f.Location.StartLine, f.Message)
	}
	// Output: overlays/prod/replicas.yaml:7: at most 5 replicas
}

// Reading is strict: an unknown field is an error.
func ExampleRead_unknownField() {
	_, err := report.Read(strings.NewReader(strings.Replace(saved, `"status"`, `"colour": "red", "status"`, 1)))
	fmt.Println(err)
	// Output: read report: unknown field "findings[0].colour"
}

// Open reads a report of a scan or of lint.
func ExampleOpen() {
	s, err := report.Open(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Scan != nil, s.Lint != nil)
	// Output: true false
}

// The verdict follows from the report and the value of --fail-on.
func ExampleReport_Verdict() {
	r, err := report.Read(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, failOn := range []string{"deny", "warn"} {
		fmt.Println(failOn, r.Verdict(failOn, false))
	}
	// Output:
	// deny passed
	// warn failed
}
