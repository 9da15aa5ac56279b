package policy_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

func object(t testing.TB, text string) *admission.Object {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return admission.ParseObject(data)
}

func objects(t testing.TB, texts ...string) []*admission.Object {
	var all []*admission.Object
	for _, text := range texts {
		for _, document := range strings.Split(text, "\n---\n") {
			all = append(all, object(t, document))
		}
	}
	return all
}

// judge judges the creation of a ConfigMap in namespace shop of a cluster of which only state is
// known.
func judge(t *testing.T, state ...string) policy.Outcome {
	t.Helper()
	return judgeIn(t, admission.ClusterOptions{}, state...)
}

func judgeIn(t *testing.T, opts admission.ClusterOptions, state ...string) policy.Outcome {
	t.Helper()
	ctx := context.Background()
	all := objects(t, state...)
	cluster := admission.NewCluster(opts, admission.NewIndex(all))
	flux := &user.DefaultInfo{Name: "system:serviceaccount:flux-system:kustomize-controller"}
	set, refusals := policy.Load(ctx, cluster, flux, all)
	for _, r := range refusals {
		t.Fatalf("refused: %s", r.Message)
	}
	req, _, err := cluster.Prepare(ctx, admission.ClientRequest{
		Operation: k8sadmission.Create, User: flux,
		Object: object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return policy.NewEngine(cluster, policy.NewCompiler(), set).Evaluate(ctx, req)
}

// deny returns a policy on ConfigMaps and its binding; constraints, spec and binding are lines added
// to them.
func deny(expression, constraints, spec, binding string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
` + constraints + `
  validations: [{expression: "` + expression + `", message: denied}]
` + spec + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p.example.com
  validationActions: [Deny]
` + binding
}

const (
	namespaceShop = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {env: prod}}}"
	prodOnly      = "    namespaceSelector: {matchLabels: {env: prod}}"
	clusterRole   = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}"
	readers       = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: readers}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:flux-system:kustomize-controller'}]}"
)

// TestWhatIsNotKnownIsIndeterminate: something unknown is never a silent pass, and never a guess.
func TestWhatIsNotKnownIsIndeterminate(t *testing.T) {
	tests := []struct {
		name  string
		state []string
		// denied is the message of the denial, why a part of the reason for an indeterminate; both
		// empty for a pass.
		denied, why string
	}{
		{"a selector needs labels of a namespace nobody defines", []string{deny("false", prodOnly, "", "")}, "", `reads labels of namespace "shop", which is not defined`},
		{"the namespace is defined and matches", []string{deny("false", prodOnly, "", ""), namespaceShop}, "denied", ""},
		{"the namespace is defined and does not match", []string{deny("false", "    namespaceSelector: {matchLabels: {env: dev}}", "", ""), namespaceShop}, "", ""},
		{"the name of a namespace is always known", []string{deny("false", "    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}", "", "")}, "denied", ""},
		{"another name excludes, whatever other labels", []string{deny("false", "    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other, env: prod}}", "", "")}, "", ""},
		{"labels do not matter when the object selector excludes", []string{deny("false", prodOnly+"\n    objectSelector: {matchLabels: {a: b}}", "", "")}, "", ""},
		{"the binding's selector needs labels", []string{deny("false", "", "", "  matchResources:\n"+prodOnly)}, "", "spec.matchResources.namespaceSelector reads labels"},
		{"an expression reads the namespace", []string{deny("has(namespaceObject.metadata.labels.env)", "", "", "")}, "", "reads namespaceObject"},
		{"an expression reads a known namespace", []string{deny("namespaceObject.metadata.labels.env != 'prod'", "", "", ""), namespaceShop}, "denied", ""},
		{"the namespace is not read when it does not matter", []string{deny("object.metadata.name != 'settings' && has(namespaceObject.metadata)", "", "", "")}, "denied", ""},
		{"match conditions never have the namespace", []string{deny("false", "", "  matchConditions: [{name: ns, expression: 'namespaceObject == null'}]", "")}, "denied", ""},
		{"the authorizer is asked without RBAC", []string{deny("authorizer.group('').resource('pods').check('get').allowed()", "", "", "")}, "", "asks the authorizer"},
		{"the authorizer denies by the RBAC that is known", []string{deny("authorizer.group('').resource('pods').check('get').allowed()", "", "", ""), clusterRole}, "", "asks the authorizer, and the RBAC objects that are known do not allow it"},
		{"the authorizer allows, by RBAC that is known in part", []string{deny("!authorizer.group('').resource('pods').check('get').allowed()", "", "", ""), clusterRole, readers}, "denied", ""},
		{"the kind of the params is not known", []string{deny("params.max > 1", "", "  paramKind: {apiVersion: example.com/v1, kind: Limit}", "  paramRef: {name: l, parameterNotFoundAction: Deny}")}, "", "paramKind is not known: no CustomResourceDefinition defines example.com/v1 Limit"},
		{"a param that the API server refuses", []string{deny("params.data.max == '1'", "", "  paramKind: {apiVersion: v1, kind: ConfigMap}", "  paramRef: {name: l, parameterNotFoundAction: Deny}"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: shop}, data: {max: 1}}"}, "", `what the cluster has of its param, ConfigMap "l", is not known`},
		{"a param may be in the cluster", []string{deny("true", "", "  paramKind: {apiVersion: v1, kind: ConfigMap}", "  paramRef: {name: l, parameterNotFoundAction: Deny}")}, "", `its param, ConfigMap "l" in namespace "shop", is not in the repository, but the cluster may have it`},
		{"whatever is done without it", []string{deny("false", "", "  paramKind: {apiVersion: v1, kind: ConfigMap}", "  paramRef: {name: l, parameterNotFoundAction: Allow}")}, "", "is not in the repository"},
		{"a selector may match in the cluster", []string{deny("false", "", "  paramKind: {apiVersion: v1, kind: ConfigMap}", "  paramRef: {selector: {matchLabels: {a: b}}, parameterNotFoundAction: Allow}"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: shop}}"}, "", `no ConfigMap in namespace "shop" matches the selector`},
		{"a param is known", []string{deny("params.metadata.name != 'l'", "", "  paramKind: {apiVersion: v1, kind: ConfigMap}", "  paramRef: {name: l, parameterNotFoundAction: Allow}"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: shop}}"}, "denied", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			outcome := judge(t, test.state...)
			denied, why := "", ""
			if len(outcome.Decisions) > 0 {
				denied = outcome.Decisions[0].Message
			}
			if len(outcome.Indeterminate) > 0 {
				why = outcome.Indeterminate[0].Why
			}
			if denied != test.denied {
				t.Errorf("denied %q, want %q", denied, test.denied)
			}
			if (test.why == "") != (why == "") || !strings.Contains(why, test.why) {
				t.Errorf("indeterminate %q, want %q", why, test.why)
			}
		})
	}
}

// TestAMissingParam: if it is known that there is no param, the server's rules apply.
func TestAMissingParam(t *testing.T) {
	binding := func(action string) string {
		return deny("false", "", "  paramKind: {apiVersion: v1, kind: ConfigMap}", "  paramRef: {name: l, parameterNotFoundAction: "+action+"}")
	}
	removed := admission.NewIndex(objects(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: shop}}"))
	other := admission.NewIndex(objects(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: other}}"))
	for name, test := range map[string]struct {
		opts          admission.ClusterOptions
		indeterminate bool
	}{
		"of a kind that is known":    {admission.ClusterOptions{Known: kinds.CompleteOf(schema.GroupKind{Kind: "ConfigMap"})}, false},
		"of another kind":            {admission.ClusterOptions{Known: kinds.CompleteOf(schema.GroupKind{Kind: "Secret"})}, true},
		"that was removed":           {admission.ClusterOptions{Removed: removed}, false},
		"in another namespace":       {admission.ClusterOptions{Removed: other}, true},
		"that may be in the cluster": {admission.ClusterOptions{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			denied, allowed := judgeIn(t, test.opts, binding("Deny")), judgeIn(t, test.opts, binding("Allow"))
			if (len(denied.Indeterminate) > 0) != test.indeterminate || (len(denied.Decisions) > 0) == test.indeterminate {
				t.Errorf("Deny: %v, %v", denied.Decisions, denied.Indeterminate)
			}
			if (len(allowed.Indeterminate) > 0) != test.indeterminate || len(allowed.Decisions) > 0 {
				t.Errorf("Allow: %v, %v", allowed.Decisions, allowed.Indeterminate)
			}
		})
	}
}

func TestAllDenialsAreReported(t *testing.T) {
	two := strings.Replace(deny("false", "", "", ""), `{expression: "false", message: denied}`,
		`{expression: "false", message: one}, {expression: "true"}, {expression: "object.data.x == 'y'"}, {expression: "1 < 0", reason: Forbidden}`, 1)
	outcome := judge(t, two)
	var got []string
	for _, d := range outcome.Decisions {
		got = append(got, string(d.Cause)+" "+d.Message+" "+string(d.Reason))
	}
	want := []string{
		"validation one Invalid",
		"error expression 'object.data.x == 'y'' resulted in error: no such key: data Invalid",
		"validation failed expression: 1 < 0 Forbidden",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("decisions\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if outcome.Evaluations != 4 {
		t.Errorf("%d evaluations, want 4", outcome.Evaluations)
	}
}

// TestOldVersionsAreRead: policies of versions that are no longer served still apply.
func TestOldVersionsAreRead(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		text := strings.ReplaceAll(deny("false", "", "", ""), "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/"+version)
		if outcome := judge(t, text); len(outcome.Decisions) != 1 {
			t.Errorf("%s: %d decisions, want 1", version, len(outcome.Decisions))
		}
	}
}

func TestRefusals(t *testing.T) {
	bad := objects(t,
		deny("object.metadata.name ==", "", "", ""),
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: unbound}, spec: {policyName: p.example.com}}")
	cluster := admission.NewCluster(admission.ClusterOptions{}, admission.NewIndex(bad))
	set, refusals := policy.Load(context.Background(), cluster, &user.DefaultInfo{}, bad)
	if len(set.Policies) != 0 || len(set.Bindings) != 1 || len(refusals) != 2 {
		t.Fatalf("%d policies, %d bindings, %d refusals", len(set.Policies), len(set.Bindings), len(refusals))
	}
	for i, field := range []string{"spec.validations[0].expression", "spec.validationActions"} {
		if got := strings.Join(refusals[i].Fields, " "); got != field {
			t.Errorf("refusal %d is about %q, want %q: %s", i, got, field, refusals[i].Message)
		}
	}
}

// TestCircularVariable: a variable that is declared twice and reads itself crashes an API server, but
// not preadmit.
func TestCircularVariable(t *testing.T) {
	variables := `  variables:
  - {name: a, expression: "1"}
  - {name: b, expression: "variables.a + 1"}
  - {name: a, expression: "variables.b + 1"}`
	outcome := judge(t, namespaceShop, deny("variables.a == 1", "", variables, ""))
	if len(outcome.Indeterminate) != 1 || !strings.Contains(outcome.Indeterminate[0].Why, "variable a is declared more than once and reads itself") {
		t.Errorf("got %+v", outcome)
	}
}

// TestDryRun: request.dryRun is that of the client's request.
func TestDryRun(t *testing.T) {
	ctx := context.Background()
	all := objects(t, deny("request.dryRun", "", "", ""), namespaceShop)
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(all))
	set, _ := policy.Load(ctx, cluster, suite.Admin(), all)
	for _, dryRun := range []bool{true, false} {
		req, _, err := cluster.Prepare(ctx, admission.ClientRequest{
			Operation: k8sadmission.Create, User: suite.Admin(), DryRun: dryRun,
			Object: object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}"),
		})
		if err != nil {
			t.Fatal(err)
		}
		outcome := policy.NewEngine(cluster, policy.NewCompiler(), set).Evaluate(ctx, req)
		if v := outcome.Verdict(req, nil); v.Allowed != dryRun {
			t.Errorf("dryRun %v: %+v", dryRun, v)
		}
	}
}

// TestNewAndStoredExpressionsAgree: in new policies a server accepts the functions of the previous
// release, and in stored ones all its own. preadmit need not distinguish them as long as there is no
// function that only stored ones may use.
func TestNewAndStoredExpressionsAgree(t *testing.T) {
	envs := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	created, stored := envs.NewExpressionsEnv().Functions(), envs.StoredExpressionsEnv().Functions()
	for name := range stored {
		if created[name] == nil {
			t.Errorf("function %s is for stored policies only: the scan has to know which are", name)
		}
	}
	if len(stored) < 100 {
		t.Errorf("only %d functions", len(stored))
	}
}
