package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/version"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/settled"
	kubernetes "github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/scanner/suite"
)

// settling is a request in a cluster, in which every `${...}` is unknown.
type settling struct {
	state, object, oldObject string
	user                     string
	applier                  apply.Applier
}

// judge judges the request with known settled evaluations.
func (s settling) judge(t *testing.T, known *settled.Evaluations) policy.Outcome {
	t.Helper()
	all := withVariables(t, s.state)
	opts := admission.ClusterOptions{Known: kinds.CompleteAll()}
	cluster := admission.NewCluster(opts, admission.NewIndex(all))
	set, refusals := policy.Load(t.Context(), cluster, suite.Admin(), all)
	for _, r := range refusals {
		t.Fatalf("refused: %s", r.Message)
	}
	in := admission.ClientRequest{Operation: k8sadmission.Create, User: &user.DefaultInfo{Name: s.user, Groups: []string{"system:masters"}}, Object: withVariables(t, s.object)[0]}
	if s.oldObject != "" {
		in.Operation, in.OldObject, in.Applier = k8sadmission.Update, withVariables(t, s.oldObject)[0], s.applier
	}
	req, _, err := cluster.Prepare(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	compiler := policy.NewCompiler()
	compiler.Settled = known
	return policy.NewEngine(cluster, compiler, set).Evaluate(t.Context(), req)
}

// TestSettled: evaluations settled by one request are not used for another one in which something differs
// that the policy reads.
func TestSettled(t *testing.T) {
	const (
		web        = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}, data: {a: x}}"
		param      = "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: shop}, data: {max: x}}"
		byFlux     = "\n---\n" + clusterRole + "\n---\n" + readers
		params     = "  paramKind: {apiVersion: v1, kind: ConfigMap}"
		ref        = "  paramRef: {name: l, parameterNotFoundAction: Deny}"
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}"
		gauge      = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: configmaps.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Gauge, plural: configmaps}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}"
	)
	policyOn := func(expression, constraints, spec, binding string) string {
		text := strings.ReplaceAll(deny(expression, constraints, spec, binding), "operations: [CREATE]", "operations: ['*']")
		text = strings.ReplaceAll(text, "resources: [configmaps]", "resources: [configmaps, deployments]")
		return strings.ReplaceAll(text, `apiGroups: [""]`, `apiGroups: ["", apps, example.com]`) + "\n---\n" + namespaceShop
	}
	of := func(expression string) settling {
		return settling{state: policyOn(expression, "", "", ""), object: web, user: "dana"}
	}
	with := func(s settling, change func(*settling)) settling { change(&s); return s }
	replace := func(from, to string) func(*settling) {
		return func(s *settling) {
			before := *s
			for _, text := range []*string{&s.state, &s.object, &s.oldObject, &s.user} {
				*text = strings.ReplaceAll(*text, from, to)
			}
			if *s == before {
				t.Fatalf("%q is nowhere", from)
			}
		}
	}
	for name, c := range map[string]struct {
		first  settling
		change func(*settling)
		// alone is set if no evaluation of the first is kept, since it reads something that its key
		// does not include.
		alone bool
	}{
		"object": {of("object.data.a == 'x'"), replace("a: x", "a: z"), false},
		"type of a number": {with(of("type(object.data.a) == int"), func(s *settling) {
			s.state += "\n---\n" + gauge
			s.object = "{apiVersion: example.com/v1, kind: Gauge, metadata: {name: web, namespace: shop}, data: {a: 1}}"
		}), replace("a: 1}", "a: 1.5}"), false},
		"old object": {with(of("oldObject.data.a == 'x'"), func(s *settling) { s.oldObject = web; s.object = strings.ReplaceAll(web, "a: x", "b: x") }), replace("a: x", "a: z"), false},
		"operation":  {of("request.operation == 'CREATE'"), func(s *settling) { s.oldObject = web }, false},
		"user":       {of("request.userInfo.username == 'dana'"), func(s *settling) { s.user = "erin" }, false},
		"name":       {of("request.name == 'web'"), replace("name: web", "name: api"), false},
		"namespace":  {of("namespaceObject.metadata.labels.env == 'prod'"), replace("env: prod", "env: dev"), true},
		"authorizer": {with(of("authorizer.serviceAccount('flux-system', 'kustomize-controller').group('').resource('pods').check('get').allowed()"), func(s *settling) { s.state += byFlux }), replace("verbs: [get]", "verbs: [list]"), true},
		"params":     {with(of(""), func(s *settling) { s.state = policyOn("params.data.max == 'x'", "", params, ref) + param }), replace("max: x", "max: z"), false},
		"unknown param": {with(of(""), func(s *settling) {
			s.state = policyOn("params.data.max.size() == 4 || true", "", params, ref) + strings.ReplaceAll(param, "max: x", "max: '${X}'")
		}), replace("'${X}'", "z"), true},
		"unknown label": {with(of("true || namespaceObject.metadata.labels.env == 'prod'"), replace("env: prod", "env: '${X}'")), replace("env: '${X}'", "env: dev"), true},
		"unknown status": {with(of("!has(object.status.replicas) || true"), func(s *settling) {
			s.object, s.oldObject, s.applier = deployment, deployment, apply.Replace
		}), func(s *settling) { s.applier = "" }, true},
		"expression": {of("object.data.a == 'x'"), replace("== 'x'", "!= 'x'"), false},
		"variable": {with(of(""), func(s *settling) {
			s.state = policyOn("variables.v", "", "  variables: [{name: v, expression: 'true'}]", "")
		}), replace("'true'", "'false'"), false},
		"match condition": {with(of(""), func(s *settling) {
			s.state = policyOn("false", "", "  matchConditions: [{name: m, expression: request.userInfo.username != 'dana'}]", "")
		}), func(s *settling) { s.user = "erin" }, false},
		"unknown value":  {of("object.data.a == 'x'"), replace("a: x", "a: '${X}'"), false},
		"unknown before": {with(of("object.data.a == 'x' || true"), replace("a: x", "a: '${X}'")), replace("a: '${X}'", "a: x"), true},
		"binding":        {of("object.data.a == 'x'"), replace("validationActions: [Deny]", "validationActions: [Deny]\n  matchResources: {objectSelector: {matchLabels: {a: b}}}"), false},
		"annotation": {with(of(""), func(s *settling) {
			s.state = policyOn("true", "", "  auditAnnotations: [{key: k, valueExpression: string(object.data.a)}]", "")
		}), replace("a: x", "a: z"), true},
	} {
		t.Run(name, func(t *testing.T) {
			known := settled.Open("")
			first := c.first.judge(t, known)
			if len(first.Decisions)+len(first.Indeterminate) > 0 {
				t.Fatalf("the first request: %s", told(first))
			}
			if kept := known.Len(); (kept == 0) != c.alone && first.Evaluations > 0 {
				t.Errorf("%d evaluations are kept", kept)
			}
			if again := c.first.judge(t, known); told(again) != told(first) {
				t.Errorf("the same request: %s, want %s", told(again), told(first))
			}
			second := with(c.first, c.change)
			if got, want := second.judge(t, known), second.judge(t, nil); told(got) != told(want) {
				t.Errorf("%s, without what is settled %s", told(got), told(want))
			} else if told(got) == told(first) && !c.alone {
				t.Errorf("the change makes no difference: %s", told(got))
			}
		})
	}
}

// TestSettledIsNotEvaluated: a settled evaluation counts with its cost, but is not evaluated again.
func TestSettledIsNotEvaluated(t *testing.T) {
	known := settled.Open("")
	s := settling{state: deny("object.metadata.name == 'web'", "", "", "") + "\n---\n" + namespaceShop, object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}", user: "dana"}
	compiled, spent := 0, map[int64]bool{}
	for range 3 {
		all := objects(t, s.state)
		cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(all))
		set, _ := policy.Load(t.Context(), cluster, suite.Admin(), all)
		req, _, err := cluster.Prepare(t.Context(), admission.ClientRequest{Operation: k8sadmission.Create, User: suite.Admin(), Object: object(t, s.object)})
		if err != nil {
			t.Fatal(err)
		}
		compiler := policy.NewCompiler()
		compiler.Settled = known
		if o := policy.NewEngine(cluster, compiler, set).Evaluate(t.Context(), req); o.Evaluations != 1 || len(o.Decisions) > 0 {
			t.Errorf("%d evaluations, %v", o.Evaluations, o.Decisions)
		}
		compiled += compiler.Tally().Compiled
		spent[compiler.Tally().Cost] = true
	}
	if compiled != 1 || len(spent) != 1 || spent[0] {
		t.Errorf("compiled %d times, and spent %v", compiled, spent)
	}
}

// TestStoredExpressionsAgree: expressions of stored policies have the same functions on API servers of all
// versions, so evaluations settled for one are valid for the others.
func TestStoredExpressionsAgree(t *testing.T) {
	overloads := func(minor int) (all []string) {
		// A server is compatible with the version before it by default.
		for name, function := range environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor-1))).StoredExpressionsEnv().Functions() {
			for _, o := range function.OverloadDecls() {
				all = append(all, fmt.Sprint(name, " ", o.ID(), " ", o.ArgTypes(), " ", o.ResultType(), " ", o.IsMemberFunction()))
			}
		}
		slices.Sort(all)
		return all
	}
	latest := overloads(kubernetes.Minor(kubernetes.Latest))
	if len(latest) < 200 {
		t.Errorf("only %d overloads", len(latest))
	}
	for _, minor := range kubernetes.Minors() {
		if diff := cmp.Diff(latest, overloads(kubernetes.Minor("v"+minor+".0"))); diff != "" {
			t.Errorf("%s (-latest +%[1]s):\n%s", minor, diff)
		}
	}
}
