package policy_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// TestSideBySide judges requests concurrently that need the same policies compiled.
func TestSideBySide(t *testing.T) {
	const count = 24
	var texts []string
	for i := range count {
		texts = append(texts, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p%02d.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations:
  - {expression: "object.data.number != '%[1]d'", message: not %[1]d}
  - {expression: "object.data.number != 'all'", message: not all of %[1]d}`, i),
			fmt.Sprintf("{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b%02d}, spec: {policyName: p%02[1]d.example.com, validationActions: [Deny]}}", i))
	}
	all := objects(t, texts...)
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(all))
	ctx := context.Background()
	set, refusals := policy.Load(ctx, cluster, suite.Admin(), all)
	if len(refusals) > 0 {
		t.Fatal(refusals[0].Message)
	}
	compiler := policy.NewCompiler()
	engine := policy.NewEngine(cluster, compiler, set)
	want := func(number string) (all []string) {
		for i := range count {
			switch number {
			case fmt.Sprint(i):
				all = append(all, fmt.Sprintf("not %d", i))
			case "all":
				all = append(all, fmt.Sprintf("not all of %d", i))
			}
		}
		return all
	}
	var wait sync.WaitGroup
	for i := range 4 * count {
		wait.Go(func() {
			number := []string{fmt.Sprint(i % count), "all", "none"}[i%3]
			req, _, err := cluster.Prepare(ctx, admission.ClientRequest{Operation: k8sadmission.Create, User: suite.Admin(), Object: object(t, fmt.Sprintf(
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {number: %q}}", number))})
			if err != nil {
				t.Error(err)
				return
			}
			outcome := engine.Evaluate(ctx, req)
			var got []string
			for _, d := range outcome.Decisions {
				got = append(got, d.Message)
			}
			if fmt.Sprint(got) != fmt.Sprint(want(number)) || outcome.Evaluations != 2*count {
				t.Errorf("number %s: %d evaluations, %q, want %q", number, outcome.Evaluations, got, want(number))
			}
		})
	}
	wait.Wait()
	if got := compiler.Tally().Compiled; got != count {
		t.Errorf("%d policies were compiled, want %d", got, count)
	}
}
