package format_test

import (
	"html"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// TestFormatsNameWhatAFindingIsAbout: every format names the object, also one whose name the server
// generates, the object that a controller creates, and the versions of Kubernetes.
func TestFormatsNameWhatAFindingIsAbout(t *testing.T) {
	r := &report.Report{APIVersion: report.APIVersion, Kind: "ScanReport", Findings: []report.Finding{{
		Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseValidation, Policy: "p", Message: "no",
		Operation: "CREATE", Root: "apps", Location: report.Location{Path: "apps/job.yaml", StartLine: 1, Tree: "head"},
		Object:     &report.Object{APIVersion: "batch/v1", Kind: "Job", Namespace: "shop", GenerateName: "migrate-"},
		Generated:  &report.Object{APIVersion: "v1", Kind: "Pod", Namespace: "shop", GenerateName: "migrate-x-"},
		Kubernetes: []string{"v1.34.0"},
	}}}
	for _, name := range format.Formats() {
		text := html.UnescapeString(string(write(t, name, r, format.Options{})))
		want := []string{"Job shop/migrate-*", "the Pod it creates will be denied", "v1.34.0"}
		if name == "json" {
			want = []string{`"generateName": "migrate-"`, `"generateName": "migrate-x-"`, "v1.34.0"}
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s does not have %q:\n%s", name, part, text)
			}
		}
	}
}

// TestFormatsTellNamespacesFromNames: the namespace of an object without a name is not shown as its name.
func TestFormatsTellNamespacesFromNames(t *testing.T) {
	r := &report.Report{APIVersion: report.APIVersion, Kind: "ScanReport", Findings: []report.Finding{{
		Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseSchema, Message: "no", Operation: "CREATE", Root: "apps",
		Location: report.Location{Path: "apps/job.yaml", StartLine: 1, Tree: "head"},
		Object:   &report.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop"},
	}}}
	for _, name := range format.Formats() {
		text := string(write(t, name, r, format.Options{}))
		if name != "json" && !strings.Contains(text, "ConfigMap shop/(no name)") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
