package policy_test

import (
	"context"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// TestMapsAreInOrder: a server iterates over a map in random order; here the keys are always sorted.
func TestMapsAreInOrder(t *testing.T) {
	for _, c := range []struct{ expression, want string }{
		{"object.data.map(k, k).join(' ')", "a b c d e f g h"},
		{"object.data.map(k, object.data[k] == '2', k + object.data[k]).join(' ')", "b2"},
		{"object.data.filter(k, k > 'c').join('')", "defgh"},
		{"object.data.transformList(k, v, k + v).join('')", "a1b2c3d4e5f6g7h8"},
		{"{'z': 1, 'y': 2, 'x': 3, 'w': 4, 'v': 5}.map(k, k).join('')", "vwxyz"},
		{"{3: 'c', 1: 'a', 2: 'b'}.map(k, string(k)).join('')", "123"},
		{"variables.copy.data.map(k, k).join('')", "abcdefgh"},
		{"variables.made.map(k, k).join('')", "efgh"},
	} {
		objects := objects(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: order.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  variables:
  - {name: copy, expression: object}
  - {name: made, expression: "{'h': 1, 'g': 2, 'f': 3, 'e': 4}"}
  validations:
  - expression: "false"
    messageExpression: >-
      `+c.expression, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: order.example.com, validationActions: [Deny]}}`)
		cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(objects))
		ctx := context.Background()
		set, refusals := policy.Load(ctx, cluster, suite.Admin(), objects)
		if len(refusals) > 0 {
			t.Fatal(refusals[0].Message)
		}
		req, _, err := cluster.Prepare(ctx, admission.ClientRequest{Operation: k8sadmission.Create, User: suite.Admin(), Object: object(t, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: letters}, data: {h: "8", g: "7", f: "6", e: "5", d: "4", c: "3", b: "2", a: "1"}}`)})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			outcome := policy.NewEngine(cluster, policy.NewCompiler(), set).Evaluate(ctx, req)
			if len(outcome.Decisions) != 1 || outcome.Decisions[0].Message != c.want {
				t.Errorf("%s gives %+v, want %q", c.expression, outcome.Decisions, c.want)
			}
		}
	}
}
