package policy_test

import (
	"context"
	"strings"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// TestABudgetForAll: the cost of a scan is bounded; beyond the bound verdicts are indeterminate,
// never passed.
func TestABudgetForAll(t *testing.T) {
	ctx := context.Background()
	all := objects(t, deny("[1, 2, 3].all(x, x > 0) && object.metadata.name == 'other'", "", "", ""))
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(all))
	set, _ := policy.Load(ctx, cluster, suite.Admin(), all)
	req, _, err := cluster.Prepare(ctx, admission.ClientRequest{
		Operation: k8sadmission.Create, User: suite.Admin(),
		Object: object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	compiler := policy.NewCompiler()
	compiler.Budget = 1
	engine := policy.NewEngine(cluster, compiler, set)
	if o := engine.Evaluate(ctx, req); len(o.Decisions) != 1 || len(o.Indeterminate) != 0 {
		t.Errorf("within the budget: %d decisions, %d indeterminate", len(o.Decisions), len(o.Indeterminate))
	}
	o := engine.Evaluate(ctx, req)
	if len(o.Decisions) != 0 || len(o.Indeterminate) != 1 || !strings.Contains(o.Indeterminate[0].Why, "more to evaluate than one scan may") {
		t.Errorf("past the budget: %d decisions, %v", len(o.Decisions), o.Indeterminate)
	}
}
