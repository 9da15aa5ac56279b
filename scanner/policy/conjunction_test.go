package policy_test

import (
	"context"
	"fmt"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// TestShortcutDecidesTheSame: however many requests a policy has judged, and however its expressions
// end, its decisions are the same.
func TestShortcutDecidesTheSame(t *testing.T) {
	all := objects(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limits.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  variables:
  - {name: count, expression: int(object.data.count)}
  validations:
  - expression: variables.count < 10 // a comment
  - expression: "variables.count != 3 || variables.count == 3 // ) && false"
  - expression: variables.count != 7
    message: not seven
  - expression: 100 / variables.count > 0
    messageExpression: "'divided by ' + string(variables.count)"
`, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: limits.example.com, validationActions: [Deny]}}`)
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(all))
	ctx := context.Background()
	set, refusals := policy.Load(ctx, cluster, suite.Admin(), all)
	if len(refusals) > 0 {
		t.Fatal(refusals[0].Message)
	}
	broken := func(expression string) string {
		return fmt.Sprintf("expression '%s' resulted in error: composited variable \"count\" fails to evaluate: type conversion error from 'string' to 'int'", expression)
	}
	want := map[string][]string{
		"7": {"not seven"},
		"x": {
			broken("variables.count < 10 // a comment"), broken("variables.count != 3 || variables.count == 3 // ) && false"),
			broken("variables.count != 7"), broken("100 / variables.count > 0"),
		},
		"0":  {"expression '100 / variables.count > 0' resulted in error: division by zero"},
		"12": {"failed expression: variables.count < 10 // a comment"},
	}
	compiler := policy.NewCompiler()
	engine := policy.NewEngine(cluster, compiler, set)
	for round := range 30 {
		for _, count := range []string{"1", "2", "3", "4", "5", "6", "7", "x", "0", "12"} {
			req, _, err := cluster.Prepare(ctx, admission.ClientRequest{Operation: k8sadmission.Create, User: suite.Admin(), Object: object(t, fmt.Sprintf(
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {count: %q}}", count))})
			if err != nil {
				t.Fatal(err)
			}
			o := engine.Evaluate(ctx, req)
			var got []string
			for _, d := range o.Decisions {
				got = append(got, d.Message)
			}
			if fmt.Sprint(got) != fmt.Sprint(want[count]) || o.Evaluations != 4 {
				t.Fatalf("round %d, count %s: %d evaluations, %q, want %q", round, count, o.Evaluations, got, want[count])
			}
		}
	}
	if done := compiler.Tally(); done.Held < 100 || done.Tried != 30*10-8 {
		t.Errorf("%d shortcuts tried, %d held", done.Tried, done.Held)
	}
}
