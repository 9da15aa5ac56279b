package scanner_test

import (
	"strings"
	"testing"
)

// brokenPolicy does not compile. It is the base of an overlay that also has a remote base, without
// which the overlay is rendered.
const brokenPolicy = `
-- overlay/kustomization.yaml --
resources:
- https://github.com/example/base?ref=v1
- ../base
- binding.yaml
-- overlay/binding.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p.example.com}
-- base/kustomization.yaml --
resources: [policy.yaml]
-- base/policy.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: object.metadata.name ==
`

const (
	notFetched = `indeterminate remote resource overlay: remote base "https://github.com/example/base?ref=v1" is not fetched: preadmit fetch gets it` + rendersWithout
	noActions  = `new Deny policy overlay/binding.yaml CREATE ValidatingAdmissionPolicyBinding /b: ` +
		`ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io "b" is invalid: spec.validationActions: Required value: at least one validation action is required []`
	notCompiled = "new Deny policy base/policy.yaml CREATE ValidatingAdmissionPolicy /p.example.com: " +
		`ValidatingAdmissionPolicy.admissionregistration.k8s.io "p.example.com" is invalid: spec.validations[0].expression: ` +
		`Invalid value: "object.metadata.name ==": compilation failed: ERROR: <input>:1:24: Syntax error: mismatched input '<EOF>' ` +
		"expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n" +
		" | object.metadata.name ==\n | .......................^ []"
)

// rendersWithout is the end of messages about remote resources.
const rendersWithout = "; the rest is rendered without it"

func TestPoliciesOfARootThatIsRefusedAreChecked(t *testing.T) {
	refused := strings.Replace(brokenPolicy, "- https://github.com/example/base?ref=v1\n", "", 1)
	refused = strings.Replace(refused, "- binding.yaml\n", "- binding.yaml\ncomponents: ['https://github.com/example/base?ref=v1']\n", 1)
	wantReport(t, mustScan(t, input("", refused)), notCompiled, noActions,
		`indeterminate root overlay: remote base "https://github.com/example/base?ref=v1" is not fetched: preadmit fetch gets it`)
}

func TestPoliciesOfARootWithARemoteBaseAreChecked(t *testing.T) {
	r := mustScan(t, input("", brokenPolicy))
	wantReport(t, r, notCompiled, noActions, notFetched)
	if l := r.Findings[0].Location; l.StartLine != 9 || l.Field != "spec.validations[0].expression" {
		t.Errorf("the policy's finding is at line %d, field %s", l.StartLine, l.Field)
	}
}

func TestWhatTheChangeDoesNotTouchIsSaidToBe(t *testing.T) {
	r := mustScan(t, input(brokenPolicy, brokenPolicy))
	wantReport(t, r, notFetched)
	if !r.Indeterminate[0].Untouched {
		t.Error("an equal root counts as touched")
	}
	r = mustScan(t, input(brokenPolicy, brokenPolicy+"# now with a comment\n"))
	if r.Indeterminate[0].Untouched {
		t.Error("a changed file of a base of the root counts as untouched")
	}
}
