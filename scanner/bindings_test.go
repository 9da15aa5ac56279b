package scanner_test

import "testing"

const idleBinding = `
-- policies/binding.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: missing.example.com
  validationActions: [Deny]
`

func TestBindingOfAMissingPolicyIsWarnedOf(t *testing.T) {
	const warning = "warning policies: ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io/b: it binds the policy missing.example.com, " +
		"which nothing that was rendered defines, so it has no effect"
	r := mustScan(t, input("", idleBinding))
	wantReport(t, r, warning)
	if l := r.Diagnostics[0].Location; l.Path != "policies/binding.yaml" || l.StartLine != 5 {
		t.Errorf("the warning is at %s:%d", l.Path, l.StartLine)
	}
	wantReport(t, mustScan(t, input(limitPolicy, limitPolicy+idleBinding)), warning)
	// A binding that was idle at base is not reported.
	wantReport(t, mustScan(t, input(idleBinding, idleBinding)))
}
