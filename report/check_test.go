package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestReadChecksNumbers: numbers that no scan writes are refused, since sums of them overflow
// and negative ones hide others.
func TestReadChecksNumbers(t *testing.T) {
	for in, want := range map[string]string{
		`"summary":{"roots":{"failed":-1,"lost":1}}`:                                                       "summary.roots.failed: -1 is no count",
		`"summary":{"roots":{"lost":9223372036854775807}}`:                                                 "summary.roots.lost: 9223372036854775807 is no count",
		`"summary":{"requests":-5}`:                                                                        "summary.requests: -5 is no count",
		`"summary":{"coverage":{"objects":1,"exact":-1}}`:                                                  "summary.coverage.exact: -1 is no count",
		`"summary":{"findings":{"Deny":{"new":-2}}}`:                                                       "summary.findings.Deny.new: -2 is no count",
		`"summary":{"findings":{"Deny":{"odd":2}}}`:                                                        `summary.findings.Deny: "odd" is none of`,
		`"summary":{"findings":{"odd":{}}}`:                                                                `summary.findings: "odd" is none of`,
		`"findings":[{"status":"new","action":"Deny","cause":"validation","definition":{"startLine":-3}}]`: "findings[0].definition: line -3 is beyond any file",
		`"changes":{"objects":[{"operation":"CREATE","added":9223372036854775807}]}`:                       "changes.objects[0].added: 9223372036854775807 is no count",
		`"changes":{"objects":[],"leftOut":9223372036854775807}`:                                           "changes.leftOut: 9223372036854775807 is no count",
		`"charts":[{"leftOut":-1}]`:                                                                        "charts[0].leftOut: -1 is no count",
		`"summary":{"requests":5,"findings":{"Deny":{"new":2}}}`:                                           "",
	} {
		_, err := Open(strings.NewReader(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s}`, APIVersion, Kind, in)))
		if strings.Contains(in, "roots") {
			_, lint := Open(strings.NewReader(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s}`, APIVersion, LintKind, in)))
			if lint == nil || !strings.Contains(lint.Error(), want) {
				t.Errorf("%s of lint: got %v, want %s", in, lint, want)
			}
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", in, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

// TestReadChecksCountsOfLint: the counts of findings decide whether a report of lint fails, so that none may hide
// findings.
func TestReadChecksCountsOfLint(t *testing.T) {
	for in, want := range map[string]string{
		`"summary":{"findings":{"error":-1}}`: "summary.findings.error: -1 is no count",
		`"summary":{"findings":{"odd":1}}`:    `summary.findings: "odd" is none of`,
		`"summary":{"findings":{"error":1}}`:  "",
	} {
		_, err := Open(strings.NewReader(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s}`, APIVersion, LintKind, in)))
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}
