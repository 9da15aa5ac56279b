package main

import (
	"bytes"
	"io"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner/suite"
)

// testReportKind is the kind of the JSON that preadmit test writes; its apiVersion
// is report.APIVersion and its schema docs/suite.schema.json.
const testReportKind = "TestReport"

// testReport is the report of preadmit test, in any format.
type testReport struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Suites     []*suite.Result `json:"suites"`
	Summary    testSummary     `json:"summary"`
}

// testSummary counts requests.
type testSummary struct {
	Suites   int `json:"suites"`
	Requests int `json:"requests"`
	// Failed are requests whose answer is not as expected.
	Failed int `json:"failed"`
	// FailedPolicies are suites whose policyErrors are not as expected.
	FailedPolicies int `json:"failedPolicies"`
	// NotCompared are requests without an entry in expected.yaml.
	NotCompared int `json:"notCompared"`
	// Indeterminate are requests that cannot be judged, or not by all policies.
	Indeterminate int `json:"indeterminate"`
}

func newTestReport(results []*suite.Result) *testReport {
	r := &testReport{APIVersion: report.APIVersion, Kind: testReportKind, Suites: results}
	r.Summary.Suites, r.Summary.Requests = len(results), requestsOf(results)
	for _, s := range results {
		r.Summary.Failed += len(s.Failures)
		if s.Failure("") != nil {
			r.Summary.Failed--
			r.Summary.FailedPolicies++
		}
		for i := range s.Verdicts {
			if !s.Compared(s.Verdicts[i].Name) {
				r.Summary.NotCompared++
			}
			if len(s.Verdicts[i].Indeterminate) > 0 {
				r.Summary.Indeterminate++
			}
		}
	}
	return r
}

// writeTestReport writes the report and returns the error that ends the run.
func writeTestReport(w io.Writer, f *testFlags, r *testReport) error {
	var b bytes.Buffer
	var err error
	switch f.format.value {
	case "json":
		err = escape.EncodeJSON(&b, r)
	case "junit":
		err = writeTestJUnit(&b, r)
	default:
		writeTestText(&b, r, f.verbose)
	}
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err == nil && r.Summary.Failed+r.Summary.FailedPolicies > 0 {
		return errFindings
	}
	return err
}
