package scanner_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/internal/deploytest"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// judgeDeployed scans a tree without a base, with the policies of deploy.
func judgeDeployed(t *testing.T, tree fs.FS, given ...scanner.Extra) *report.Report {
	t.Helper()
	report, err := scanner.Scan(t.Context(), scanner.Input{
		Head:    scanner.Tree{FS: tree, Revision: report.Revision{Name: "head"}},
		Extra:   append(given, scanner.Extra{Name: "policies", FS: os.DirFS("../deploy/policies")}),
		Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// strict returns a namespace with the strictest Pod Security Standard, for the chart; the
// kustomizations have their own.
func strict(t *testing.T) scanner.Extra {
	t.Helper()
	namespace, err := os.ReadFile("../deploy/kustomize/base/namespace.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return scanner.Extra{Name: "cluster", FS: fstest.MapFS{"namespace.yaml": {Data: namespace}}}
}

// remarksOf formats the remarks of a report as lines.
func remarksOf(r *report.Report) []string {
	lines := []string{}
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s:%d %s: %s", f.Location.Path, f.Location.StartLine, f.Action, f.Message))
	}
	for _, i := range r.Indeterminate {
		lines = append(lines, fmt.Sprintf("indeterminate %s: %s", i.What, i.Why))
	}
	for _, d := range r.Diagnostics {
		lines = append(lines, d.Severity+": "+d.Message)
	}
	return lines
}

// TestDeployedFormsAreAdmitted checks that the API server and all policies accept all objects. Pods
// of workloads are judged too, so 13 validations of Pods and 4 of workloads are evaluated.
func TestDeployedFormsAreAdmitted(t *testing.T) {
	for _, f := range deploytest.Forms(t, "../deploy") {
		t.Run(f.Name, func(t *testing.T) {
			got := judgeDeployed(t, f.Tree, strict(t))
			if len(got.Findings)+len(got.Indeterminate)+len(got.Diagnostics) != 0 {
				t.Errorf("the report says:\n%s", strings.Join(remarksOf(got), "\n"))
			}
			if s := got.Summary; s.Roots != (report.RootCounts{Rendered: 1}) || s.Policies != 3 || s.Evaluations != 18 {
				t.Errorf("summary: %+v", s)
			}
		})
	}
}

// replaced returns a copy of a tree with a text of a file replaced.
func replaced(t *testing.T, tree fs.FS, file, old, fresh string) fs.FS {
	t.Helper()
	copied := deploytest.Copied(t, tree)
	f := copied[file]
	if f == nil || !strings.Contains(string(f.Data), old) {
		t.Fatalf("%s does not say %q", file, old)
	}
	f.Data = []byte(strings.Replace(string(f.Data), old, fresh, 1))
	return copied
}

// TestDeployedChangesAreRefused changes the deployment in one way after another and checks that
// each validation of the policies has a finding, in the changed file.
func TestDeployedChangesAreRefused(t *testing.T) {
	// Policies are not evaluated for a Pod that the Pod Security Standard forbids.
	base := replaced(t, os.DirFS("../deploy/kustomize/base"), "namespace.yaml", "enforce: restricted", "enforce: privileged")
	nats := replaced(t, os.DirFS("../deploy/kustomize"), "base/namespace.yaml", "enforce: restricted", "enforce: privileged")
	const set, deployment = "statefulset.yaml", "external-nats/deployment.yaml"
	places := map[string]string{deployment: "base/statefulset.yaml"} // the file with the patched object
	tests := []struct {
		tree                  fs.FS
		file, old, new, tells string
	}{
		{base, set, "automountServiceAccountToken: false", "automountServiceAccountToken: true", "must not have a token of it"},
		{base, set, "enableServiceLinks: false", "enableServiceLinks: true", "are taken for settings"},
		{base, set, "enableServiceLinks: false", "enableServiceLinks: false\n      hostNetwork: true", "nothing of the node may be shared"},
		{base, set, "runAsUser: 65532", "runAsUser: 0", "a user that is not root"},
		{base, set, "type: RuntimeDefault", "type: Unconfined", "must have a seccomp profile"},
		{base, set, "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "no container may gain privileges"},
		{base, set, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "must be read-only"},
		{base, set, "            - ALL", "            - CHOWN", "all capabilities must be dropped"},
		{base, set, "            memory: 5Gi\n", "", "bounded in memory and storage"},
		{base, set, "readinessProbe:", "unknownProbe:", "a readiness and a liveness probe"},
		{base, set, "preadmit:v0.1.0", "preadmit:latest", "by a tag that is not latest"},
		{base, set, "preadmit:v0.1.0", "preadmit", "by a tag that is not latest"},
		{base, set, "- name: GOMEMLIMIT", "- name: PREADMIT_APP_WEBHOOK_SECRET", "must not be written into the Pod"},
		{base, set, "terminationGracePeriodSeconds: 60", "terminationGracePeriodSeconds: 30", "time to end running scans"},
		{base, set, "replicas: 1", "replicas: 2", "must not have one volume"},
		{base, set, "containerPort: 8080", "containerPort: 808080", "must be between 1 and 65535"},
		{base, "service.yaml", "spec:\n", "spec:\n  type: LoadBalancer\n", "must not leave the cluster"},
		{base, "networkpolicy.yaml", "egress:", "egres:", `unknown field "spec.egres"`},
		{nats, deployment, "value: 3", "value: 1", "must have a second replica"},
		{nats, deployment, "emptyDir:\n      sizeLimit: 1Gi", "persistentVolumeClaim: {claimName: queue}", "must be a StatefulSet"},
		{nats, "base/statefulset.yaml", "topologySpreadConstraints:", "tolerations: []\n      unknown:", "must be spread over nodes"},
	}
	untried := messages(t)
	for _, test := range tests {
		t.Run(test.tells, func(t *testing.T) {
			report := judgeDeployed(t, replaced(t, test.tree, test.file, test.old, test.new))
			found := false
			for _, f := range report.Findings {
				if strings.Contains(f.Message, test.tells) {
					found = found || f.Location.Path == cmp.Or(places[test.file], test.file)
					delete(untried, f.Message)
				}
			}
			if !found {
				t.Errorf("no finding %q in %s, but:\n%s", test.tells, test.file, strings.Join(remarksOf(report), "\n"))
			}
		})
	}
	for message := range untried {
		t.Errorf("no change was refused because %s", message)
	}
}

// TestDeployedPodSecurity checks that the namespace of the kustomizations forbids privileges.
func TestDeployedPodSecurity(t *testing.T) {
	tree := replaced(t, os.DirFS("../deploy/kustomize/base"), "statefulset.yaml", "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true")
	report := judgeDeployed(t, tree)
	if len(report.Findings) != 1 || !strings.Contains(report.Findings[0].Message, `violates PodSecurity "restricted:latest": allowPrivilegeEscalation`) {
		t.Errorf("the report says:\n%s", strings.Join(remarksOf(report), "\n"))
	}
}

// messages returns those of all validations of the policies.
func messages(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, object := range deploytest.Objects(t, os.DirFS("../deploy/policies")) {
		validations, _ := object.Field("spec.validations").([]any)
		for _, v := range validations {
			all[v.(map[string]any)["message"].(string)] = true
		}
	}
	if len(all) != 18 {
		t.Fatalf("the policies have %d validations", len(all))
	}
	return all
}

// TestDocumentedOverlay checks that no policy of deploy denies the kustomization of
// docs/github-app.md.
func TestDocumentedOverlay(t *testing.T) {
	if report := judgeDeployed(t, deploytest.Overlay(t, "../deploy")); len(report.Findings)+len(report.Indeterminate)+len(report.Diagnostics) != 0 || report.Summary.Evaluations != 18 {
		t.Errorf("the report says:\n%s", strings.Join(remarksOf(report), "\n"))
	}
}
