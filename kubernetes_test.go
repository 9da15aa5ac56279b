package preadmit_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestReportsAreReadWithoutKubernetes: the types of reports need the standard library
// only, what writes and publishes reports needs nothing of Kubernetes, and neither the
// service nor its tests link the API server's code, but for the child that scans.
func TestReportsAreReadWithoutKubernetes(t *testing.T) {
	for _, test := range []struct {
		name     string
		packages []string
		bad      func(imported string) bool
	}{
		{"the types", []string{"./report"}, func(imported string) bool {
			host, _, _ := strings.Cut(imported, "/")
			return strings.Contains(host, ".") && imported != module+"/report"
		}},
		{"the formats, publishing and what all commands share", []string{"-test", "./report", "./report/format", "./report/github/...", "./cmd/preadmit/internal/cli"}, func(imported string) bool {
			return strings.HasPrefix(imported, "k8s.io/")
		}},
		{"the service", []string{"-test", "./report/format/objects", "./webhooks", "./webhooks/app", "./webhooks/intake",
			"./webhooks/jailed", "./webhooks/metrics", "./webhooks/pages", "./webhooks/queue", "./webhooks/reconcile",
			"./webhooks/worker"}, func(imported string) bool {
			return strings.HasPrefix(imported, "k8s.io/kubernetes/") || strings.HasPrefix(imported, "k8s.io/apiserver/")
		}},
	} {
		imported, err := exec.Command("go", append([]string{"list", "-deps"}, test.packages...)...).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, p := range slices.Compact(strings.Fields(string(imported))) {
			if test.bad(p) {
				t.Errorf("%s (%s) must not need %s", test.name, strings.Join(test.packages, " "), p)
			}
		}
	}
}
