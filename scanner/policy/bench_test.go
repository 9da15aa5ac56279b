package policy_test

import (
	"context"
	"fmt"
	"testing"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// benchmarkExpressions are common expressions of policies on workloads.
var benchmarkExpressions = []string{
	"object.spec.replicas <= 10",
	"has(object.metadata.labels) && 'app' in object.metadata.labels",
	"object.spec.template.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
	"object.spec.template.spec.containers.all(c, has(c.resources.limits) && 'memory' in c.resources.limits)",
	"!has(object.spec.template.spec.hostNetwork) || object.spec.template.spec.hostNetwork == false",
}

// benchmarkCluster returns 20 policies of 5 validations and a request for a Deployment.
func benchmarkCluster(b *testing.B) (*admission.Cluster, *policy.Set, *admission.Request) {
	var texts []string
	for i := range 20 {
		text := fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p%d.example.com}\nspec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]\n  validations:\n", i)
		for _, e := range benchmarkExpressions {
			text += fmt.Sprintf("  - expression: %q\n", e)
		}
		texts = append(texts, text, fmt.Sprintf("{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b%d}, spec: {policyName: p%d.example.com, validationActions: [Deny]}}", i, i))
	}
	ctx := context.Background()
	all := objects(b, texts...)
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(all))
	set, refusals := policy.Load(ctx, cluster, suite.Admin(), all)
	if len(refusals) > 0 {
		b.Fatal(refusals[0].Message)
	}
	req, _, err := cluster.Prepare(ctx, admission.ClientRequest{Operation: k8sadmission.Create, User: suite.Admin(), Object: object(b, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "registry.example.com/web:1.2", resources: {limits: {memory: 1Gi}}}
      - {name: proxy, image: "registry.example.com/proxy:3.4", resources: {limits: {memory: 64Mi}}}
`)})
	if err != nil {
		b.Fatal(err)
	}
	return cluster, set, req
}

// BenchmarkEvaluate judges one request by 20 policies of 5 validations.
func BenchmarkEvaluate(b *testing.B) {
	cluster, set, req := benchmarkCluster(b)
	engine := policy.NewEngine(cluster, policy.NewCompiler(), set)
	ctx := context.Background()
	for b.Loop() {
		if o := engine.Evaluate(ctx, req); o.Evaluations != 100 || len(o.Decisions) > 0 {
			b.Fatalf("%d evaluations, %d decisions", o.Evaluations, len(o.Decisions))
		}
	}
}

// BenchmarkEvaluateOthers is BenchmarkEvaluate with 300 more policies, none of which is about
// Deployments.
func BenchmarkEvaluateOthers(b *testing.B) {
	cluster, set, req := benchmarkCluster(b)
	for i := range 300 {
		other := *set.Policies[i%20]
		other.ValidatingAdmissionPolicy = other.DeepCopy()
		other.Name = fmt.Sprintf("other%d.example.com", i)
		other.Spec.MatchConstraints.ResourceRules[0].Resources = []string{"statefulsets"}
		binding := *set.Bindings[i%20]
		binding.ValidatingAdmissionPolicyBinding = binding.DeepCopy()
		binding.Spec.PolicyName = other.Name
		set.Policies, set.Bindings = append(set.Policies, &other), append(set.Bindings, &binding)
	}
	engine := policy.NewEngine(cluster, policy.NewCompiler(), set)
	ctx := context.Background()
	for b.Loop() {
		if o := engine.Evaluate(ctx, req); o.Evaluations != 100 || len(o.Decisions) > 0 {
			b.Fatalf("%d evaluations, %d decisions", o.Evaluations, len(o.Decisions))
		}
	}
}

// BenchmarkEvaluateUpstream is BenchmarkEvaluate with the API server's own dispatcher.
func BenchmarkEvaluateUpstream(b *testing.B) {
	cluster, set, req := benchmarkCluster(b)
	o := newOracle(b, cluster, nil, set)
	matcher := generic.NewPolicyMatcher(matching.NewMatcher(namespaces{cluster}, admission.Client{Cluster: cluster}))
	a, _ := cluster.Authorizer()
	dispatcher := validating.NewDispatcher(a, matcher)
	ctx := context.Background()
	for b.Loop() {
		if err := dispatcher.Dispatch(ctx, req, req.Interfaces, o.hooks); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvaluateRaw evaluates the same expressions with cel-go alone: the server's programs on
// decoded content.
func BenchmarkEvaluateRaw(b *testing.B) {
	_, set, req := benchmarkCluster(b)
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		b.Fatal(err)
	}
	var programs []celgo.Program
	for _, p := range set.Policies {
		for _, v := range p.Spec.Validations {
			compiled := compiler.CompileCELExpression(&validating.ValidationCondition{Expression: v.Expression}, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
			if compiled.Error != nil {
				b.Fatal(compiled.Error)
			}
			programs = append(programs, compiled.Program)
		}
	}
	version, err := req.Version(req.GetKind())
	if err != nil {
		b.Fatal(err)
	}
	variables := map[string]any{plugincel.ObjectVarName: version.Object}
	for b.Loop() {
		for _, program := range programs {
			if value, _, err := program.Eval(variables); err != nil || value != celtypes.True {
				b.Fatal(value, err)
			}
		}
	}
}

// BenchmarkCompile compiles one policy of 5 validations.
func BenchmarkCompile(b *testing.B) {
	cluster, set, req := benchmarkCluster(b)
	one := &policy.Set{Policies: set.Policies[:1], Bindings: set.Bindings}
	ctx := context.Background()
	for b.Loop() {
		engine := policy.NewEngine(cluster, policy.NewCompiler(), one)
		if o := engine.Evaluate(ctx, req); o.Evaluations != 5 {
			b.Fatalf("%d evaluations", o.Evaluations)
		}
	}
}
