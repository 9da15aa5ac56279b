package scanner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner"
)

// A change must not disarm the gate: whatever was judged at base is judged at head,
// or the scan is incomplete.

const gatedApp = `
-- policies/limit.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: "object.data.size == '1'", message: too many}]
-- policies/binding.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec: {policyName: limit, validationActions: [Deny]}
-- app/cm.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: "1"}}
`

func changed(archive string) string {
	return strings.Replace(archive, `{size: "1"}`, `{size: "50"}`, 1)
}

const kustomized = gatedApp + `
-- app/kustomization.yaml --
resources: [cm.yaml]
`

func TestARootCannotBeHidden(t *testing.T) {
	tests := map[string]struct{ base, head string }{
		"by a kustomization that uses it": {kustomized, changed(kustomized) + `
-- zz/kustomization.yaml --
resources: [../app]
patches:
- target: {kind: ConfigMap}
  patch: |-
    - {op: replace, path: /data/size, value: "1"}
`},
		"by becoming a component": {kustomized, strings.Replace(changed(kustomized), "resources: [cm", "kind: Component\nresources: [cm", 1)},
		"by a kustomization that reads one of its files": {gatedApp, changed(gatedApp) + `
-- zz/kustomization.yaml --
secretGenerator: [{name: g, files: [../app/cm.yaml]}]
`},
		"by a kustomization that deletes a new file's object": {gatedApp, gatedApp + `
-- app/new.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {size: "50"}}
-- zz/kustomization.yaml --
resources: [../app/new.yaml]
patches: [{patch: '{$patch: delete, apiVersion: v1, kind: ConfigMap, metadata: {name: b}}'}]
`},
	}
	for name, test := range tests {
		r := mustScan(t, input(test.base, test.head))
		if len(r.Findings) != 1 || r.Findings[0].Root != "app" || r.Findings[0].Message != "too many" {
			t.Errorf("hidden %s: %q", name, says(r))
		}
	}
}

func TestARemoteBaseDoesNotTurnTheGateOff(t *testing.T) {
	head := strings.Replace(changed(kustomized), "[cm.yaml]", "[cm.yaml, 'https://example.com/x.yaml']", 1)
	r := mustScan(t, input(kustomized, head))
	if got := r.Verdict("", false); got != "incomplete" {
		t.Errorf("verdict %s: %q", got, says(r))
	}
}

func TestAJobIsPatchedNotPut(t *testing.T) {
	const job = `
-- app/job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}}
`
	wantSays(t, mustScan(t, input(job, strings.Replace(job, "spec: {template", "spec: {suspend: true, template", 1))))
	deny := strings.NewReplacer(`apiGroups: [""]`, "apiGroups: [batch]", "configmaps", "jobs", "object.data.size == '1'", "has(object.spec.ttlSecondsAfterFinished)").
		Replace(strings.Split(gatedApp, "-- app/cm.yaml --")[0])
	r := mustScan(t, input(job, job+deny))
	if len(r.Findings) != 1 || r.Findings[0].Message != "too many" {
		t.Errorf("a new policy on an unchanged Job: %q", says(r))
	}
}

// TestABaseThatNeverWas: what does not decode was never on the server, so the head
// creates it.
func TestABaseThatNeverWas(t *testing.T) {
	r := mustScan(t, input(strings.Replace(gatedApp, `{size: "1"}`, `{size: 1}`, 1), changed(gatedApp)))
	if len(r.Findings) == 0 || r.Findings[0].Message != "too many" || r.Findings[0].Status != "new" {
		t.Errorf("report %q", says(r))
	}
}

func TestWhatTheServerRefusesToDelete(t *testing.T) {
	const namespaces = `
-- ns/ns.yaml --
{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}
`
	r := mustScan(t, input(gatedApp+namespaces, gatedApp))
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "this namespace may not be deleted") {
		t.Errorf("report %q", says(r))
	}
}

func TestAMistypedSelectionIsRefused(t *testing.T) {
	in := input("", kustomized)
	in.Config.Roots = []string{"ap/**"}
	_, err := scanner.Scan(context.Background(), in)
	var mistake *scanner.InputError
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), `["ap/**"] match no root`) {
		t.Errorf("error %v", err)
	}
}
