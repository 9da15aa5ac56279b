package report

import "testing"

func TestVerdict(t *testing.T) {
	finding := func(a Action, s Status) Report { return Report{Findings: []Finding{{Action: a, Status: s}}} }
	unjudged := Report{Indeterminate: []Indeterminate{{What: "root"}}}
	untouched := Report{Indeterminate: []Indeterminate{{What: "root", Untouched: true}}}
	failedRoot := Report{Summary: Summary{Roots: RootCounts{Failed: 1}}}
	failedBefore := Report{Summary: Summary{Roots: RootCounts{FailedBefore: 1}}}
	tests := []struct {
		name     string
		report   Report
		failOn   string
		existing bool
		want     Verdict
	}{
		{"nothing", Report{}, "indeterminate", true, VerdictPassed},
		{"deny is the default", finding(ActionDeny, StatusNew), "", false, VerdictFailed},
		{"deny", finding(ActionDeny, StatusNew), "deny", false, VerdictFailed},
		{"warn below deny", finding(ActionWarn, StatusNew), "deny", false, VerdictPassed},
		{"warn", finding(ActionWarn, StatusNew), "warn", false, VerdictFailed},
		{"deny above warn", finding(ActionDeny, StatusNew), "warn", false, VerdictFailed},
		{"audit below warn", finding(ActionAudit, StatusNew), "warn", false, VerdictPassed},
		{"audit", finding(ActionAudit, StatusNew), "audit", false, VerdictFailed},
		{"existing", finding(ActionDeny, StatusExisting), "deny", false, VerdictPassed},
		{"existing wanted", finding(ActionDeny, StatusExisting), "deny", true, VerdictFailed},
		{"resolved", finding(ActionDeny, StatusResolved), "audit", true, VerdictPassed},
		{"never", finding(ActionDeny, StatusNew), "never", true, VerdictPassed},
		{"indeterminate below all actions", unjudged, "audit", true, VerdictPassed},
		{"indeterminate", unjudged, "indeterminate", false, VerdictFailed},
		{"indeterminate but untouched", untouched, "indeterminate", false, VerdictPassed},
		{"indeterminate, untouched, existing wanted", untouched, "indeterminate", true, VerdictFailed},
		{"indeterminate asks for audit too", finding(ActionAudit, StatusNew), "indeterminate", false, VerdictFailed},
		{"failed root", failedRoot, "deny", false, VerdictIncomplete},
		{"failed root, never", failedRoot, "never", false, VerdictPassed},
		{"failed root of the base", failedBefore, "deny", false, VerdictPassed},
	}
	for _, test := range tests {
		if got := test.report.Verdict(test.failOn, test.existing); got != test.want {
			t.Errorf("%s: Verdict(%q, %v) = %s, want %s", test.name, test.failOn, test.existing, got, test.want)
		}
	}
}
