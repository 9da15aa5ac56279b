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
		{"the service", []string{"-test", "./report/format/objects", "./webhooks", "./webhooks/app", "./webhooks/artifacts", "./webhooks/intake",
			"./webhooks/jailed", "./webhooks/metrics", "./webhooks/pages", "./webhooks/queue", "./webhooks/reconcile",
			"./webhooks/worker"}, func(imported string) bool {
			// Names of users and groups need nothing else.
			return strings.HasPrefix(imported, "k8s.io/kubernetes/") ||
				strings.HasPrefix(imported, "k8s.io/apiserver/") && !strings.HasPrefix(imported, "k8s.io/apiserver/pkg/authentication/")
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

// maxLinked is how many test binaries may link the API server's code. Linking one takes some
// five seconds of processor time, so a package whose tests need it for a few cases only is better
// off with these cases in a package above.
const maxLinked = 8

// TestFewTestsLinkKubernetes counts the test binaries that link the API server's code.
func TestFewTestsLinkKubernetes(t *testing.T) {
	const format = `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`
	out, err := exec.Command("go", "list", "-test", "-f", format, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var linked []string
	for line := range strings.Lines(string(out)) {
		name, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasSuffix(name, ".test") && strings.Contains(deps, " k8s.io/kubernetes/") {
			linked = append(linked, strings.TrimSuffix(name, ".test"))
		}
	}
	if len(linked) == 0 || len(linked) > maxLinked {
		t.Errorf("the tests of %d packages link Kubernetes, want at most %d:\n%s", len(linked), maxLinked, strings.Join(linked, "\n"))
	}
}
