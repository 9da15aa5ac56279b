package hostile

import (
	"fmt"
	"strings"
)

// policyOf returns a policy on ConfigMaps with one validation, and its binding.
func policyOf(name, expression string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: %[2]q, message: %[1]s says no}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
---
`, name, expression)
}

// expressions returns expensive policies that the head proposes.
func expressions() []Case {
	return []Case{
		{Name: "CEL cost bomb", Verdict: "failed", Reports: "cost", Heavy: true, Head: func(t *Tree, _ *Canary) {
			t.Put("policies/bomb.yaml", policyOf("bomb", "object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a != 'x' || b != c || c != d))))"))
			t.Put("web/cm.yaml", manyKeys(2000))
		}},
		{Name: "CEL text bomb", Verdict: "failed", Reports: "bomb", Head: func(t *Tree, _ *Canary) {
			grow := "object.metadata.name"
			for range 12 {
				grow = "(" + grow + " + " + grow + ")"
			}
			t.Put("policies/bomb.yaml", policyOf("bomb", "size("+grow+") < 0"))
		}},
		{Name: "CEL nesting bomb", Verdict: "failed", Reports: "bomb", Head: func(t *Tree, _ *Canary) {
			t.Put("policies/bomb.yaml", policyOf("bomb", strings.Repeat("(", 5000)+"true"+strings.Repeat(")", 5000)))
		}},
		{Name: "regex bomb", Verdict: "failed", Reports: "bomb says no", Head: func(t *Tree, _ *Canary) {
			t.Put("policies/bomb.yaml", policyOf("bomb", "!object.data.size.matches('^(a+)+$') && !object.data.long.matches('^(([a-z])+.)+[A-Z]([a-z])+$') && false"))
			t.Put("web/cm.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {size: \"2\", long: "+strings.Repeat("a", 100_000)+"}}\n")
		}},
		{Name: "regex of endless repetition", Verdict: "failed", Reports: "bomb", Head: func(t *Tree, _ *Canary) {
			t.Put("policies/bomb.yaml", policyOf("bomb", "object.metadata.name.matches('((((a{100}){100}){100}){100})')"))
		}},
		{Name: "2,000 policies", Verdict: "failed", Reports: "p1999 says no", Heavy: true, Head: func(t *Tree, _ *Canary) {
			for i := range 2000 {
				t.Put(fmt.Sprintf("policies/p%d.yaml", i), policyOf(fmt.Sprintf("p%d", i), fmt.Sprintf("object.metadata.name != 'web' || %d < 0", i)))
			}
		}},
	}
}

// manyKeys returns a ConfigMap that the policy of the base denies.
func manyKeys(n int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  size: \"2\"\n")
	for i := range n {
		fmt.Fprintf(&b, "  k%d: x\n", i)
	}
	return b.String()
}
