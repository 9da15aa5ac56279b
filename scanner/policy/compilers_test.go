package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// TestVariablesOfOnePolicy: a compiler that is used for several policies has the variables of only
// one of them, in the order of that policy.
func TestVariablesOfOnePolicy(t *testing.T) {
	variables := []string{
		"[{name: a, expression: '1'}, {name: b, expression: 'variables.a + 1'}]",
		"[{name: b, expression: '2'}]",
		"[{name: b, expression: 'variables.a'}, {name: a, expression: '1'}]",
		"[{name: a, expression: '\"x\"'}, {name: a, expression: '1'}, {name: b, expression: 'variables.a'}]",
	}
	want := []string{"", "undefined field 'a'", "undefined field 'a'", ""}
	var texts []string
	for i, v := range variables {
		texts = append(texts, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p%d.example.com}
spec:
  matchConstraints:
    matchPolicy: Exact
    namespaceSelector: {}
    objectSelector: {}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  variables: %s
  validations:
  - expression: variables.a + variables.b > 0`, i, v),
			fmt.Sprintf("{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b%d}, spec: {policyName: p%[1]d.example.com, validationActions: [Deny]}}", i))
	}
	objects := objects(t, texts...)
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(objects))
	ctx := context.Background()
	// The server refuses the invalid ones at creation, so they are put into force as an older server
	// may have stored them.
	valid, refusals := policy.Load(ctx, cluster, suite.Admin(), objects)
	if len(valid.Policies)+len(refusals) != len(variables) {
		t.Fatalf("%d policies, %d refusals", len(valid.Policies), len(refusals))
	}
	set := &policy.Set{Bindings: valid.Bindings}
	for i := range variables {
		text, err := objects[2*i].JSON()
		if err != nil {
			t.Fatal(err)
		}
		p := &policy.Policy{ValidatingAdmissionPolicy: new(v1.ValidatingAdmissionPolicy), Source: objects[2*i]}
		if err := json.Unmarshal(text, p.ValidatingAdmissionPolicy); err != nil {
			t.Fatal(err)
		}
		set.Policies = append(set.Policies, p)
	}
	req, _, err := cluster.Prepare(ctx, admission.ClientRequest{Operation: k8sadmission.Create, User: suite.Admin(), Object: object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got := map[string]string{}
		for _, d := range policy.NewEngine(cluster, policy.NewCompiler(), set).Evaluate(ctx, req).Decisions {
			got[d.Policy.Name] += d.Message
		}
		for i, message := range want {
			name := fmt.Sprintf("p%d.example.com", i)
			if said := got[name]; !strings.Contains(said, message) || (said == "") != (message == "") {
				t.Errorf("%s: %q, want %q", name, said, message)
			}
		}
	}
}
