package policy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/cel"
	"github.com/preadmit/preadmit/scanner/policy/settled"
	"github.com/preadmit/preadmit/scanner/suite"
)

// scene is a cluster, the policies in force in it and requests.
type scene struct {
	state, policies []*admission.Object
	requests        []admission.ClientRequest
	// stored is set if the policies are read as from a server's storage, without the checks of their
	// creation, so that expressions need not compile.
	stored bool
}

// comparison compares this package with upstream's plugin. It keeps compiled policies for other
// scenes.
type comparison struct {
	ours   *policy.Compiler
	theirs *upstreamCompiler
	// mutations compiles mutating policies.
	mutations *mutation.Compiler
	tally     tally
}

// tally counts kinds of the compared pairs of policy set and request, to show that the comparison
// covers them.
type tally struct {
	pairs, evaluated, denied, warned, audited int
	// mutable counts requests of scenes with mutating policies, mutated those that one changed or
	// refused, unmutated those that one refused.
	mutable, mutated, unmutated int
	// order counts answers that depend on the order of maps.
	order int
	// said counts the answers that contain one of phrases.
	said map[string]int
}

// phrases are texts of answers that a comparison should cover.
var phrases = []string{
	"compilation error", "running out of cost budget", "failed messageExpression", "actual cost limit exceeded",
	"failed to configure binding", "failed to configure policy", "no such key", "no such overload", "division by zero",
	"overflow", "index out of bounds", "fails to evaluate", "failed expression", "not found", "no such attribute",
	"not declared in schema", "may not mutate atomic", "type mismatch", "strict decoding error", "Unexpected kind", "does not apply", "missing value", "panic",
}

func newComparison() *comparison {
	return &comparison{ours: newCompiler(), theirs: newUpstreamCompiler(), mutations: &mutation.Compiler{}, tally: tally{said: map[string]int{}}}
}

// newCompiler returns a Compiler without a budget for all evaluations, which upstream does not have.
func newCompiler() *policy.Compiler {
	c := policy.NewCompiler()
	c.Budget = 1 << 62
	c.ShortcutAfter = 1 // the first request is evaluated without the shortcut
	c.Settled = settled.Open("")
	return c
}

// forget bounds the memory of long runs.
func (c *comparison) forget() {
	if len(c.theirs.known)+len(c.theirs.mutators) > mostCompiled {
		c.ours, c.theirs, c.mutations = newCompiler(), newUpstreamCompiler(), &mutation.Compiler{}
	}
}

// difference is a request with two different answers.
type difference struct {
	client admission.ClientRequest
	text   string
}

// stage is a scene prepared for judging requests.
type stage struct {
	*comparison
	all     []*admission.Object
	index   *admission.Index
	set     *policy.Set
	looked  map[string]bool // kinds whose stored objects policies depend on
	cluster *admission.Cluster
	engine  *policy.Engine
	oracle  *oracle
}

// scene compares the answers to all requests of a scene.
func (c *comparison) scene(t testing.TB, s scene) []difference {
	t.Helper()
	c.forget()
	stage := c.stage(t, s)
	var all []difference
	for _, in := range s.requests {
		if text := stage.request(t, in); text != "" {
			all = append(all, difference{in, text})
		}
	}
	return all
}

func (c *comparison) stage(t testing.TB, s scene) *stage {
	all := slices.Concat(s.state, s.policies)
	st := &stage{comparison: c, all: all, index: admission.NewIndex(all)}
	st.cluster = admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, st.index)
	if s.stored {
		st.set = c.storedSet(t, s.policies)
	} else {
		st.set, _ = policy.Load(context.Background(), st.cluster, suite.Admin(), s.policies)
	}
	st.looked = lookedUp(st.set)
	st.engine = policy.NewEngine(st.cluster, c.ours, st.set)
	st.oracle = c.theirs.oracle(t, st.cluster, all, st.set)
	return st
}

// lookedUp returns the kinds whose stored objects affect requests about others: those of params, and
// kinds that the cluster itself looks up.
func lookedUp(set *policy.Set) map[string]bool {
	kinds := map[string]bool{"Namespace": true, "CustomResourceDefinition": true, "Role": true, "RoleBinding": true, "ClusterRole": true, "ClusterRoleBinding": true}
	for _, p := range set.Policies {
		if p.Spec.ParamKind != nil {
			kinds[p.Spec.ParamKind.Kind] = true
		}
	}
	for _, m := range set.Mutations {
		if m.Spec.ParamKind != nil {
			kinds[m.Spec.ParamKind.Kind] = true
		}
	}
	return kinds
}

// storedSet reads policies like a server that has them in its storage.
func (c *comparison) storedSet(t testing.TB, objects []*admission.Object) *policy.Set {
	set := &policy.Set{}
	for _, o := range objects {
		switch o.GroupVersionKind().Kind {
		case "ValidatingAdmissionPolicy":
			p := &v1.ValidatingAdmissionPolicy{}
			stored(t, o, p)
			if panics(func() { c.theirs.compile(t, p) }) {
				continue // no server can have stored it
			}
			set.Policies = append(set.Policies, &policy.Policy{ValidatingAdmissionPolicy: p, Source: o})
		case "MutatingAdmissionPolicy":
			p := &v1.MutatingAdmissionPolicy{}
			stored(t, o, p)
			if panics(func() { c.theirs.mutator(t, p) }) {
				continue // no server can have stored it
			}
			set.Mutations = append(set.Mutations, &policy.Mutation{MutatingAdmissionPolicy: p, Source: o})
		case "MutatingAdmissionPolicyBinding":
			b := &v1.MutatingAdmissionPolicyBinding{}
			stored(t, o, b)
			set.MutationBindings = append(set.MutationBindings, &policy.MutationBinding{MutatingAdmissionPolicyBinding: b, Source: o})
		case "ValidatingAdmissionPolicyBinding":
			b := &v1.ValidatingAdmissionPolicyBinding{}
			stored(t, o, b)
			set.Bindings = append(set.Bindings, &policy.Binding{ValidatingAdmissionPolicyBinding: b, Source: o})
		}
	}
	sort.SliceStable(set.Policies, func(i, j int) bool { return set.Policies[i].Name < set.Policies[j].Name })
	sort.SliceStable(set.Bindings, func(i, j int) bool { return set.Bindings[i].Name < set.Bindings[j].Name })
	return set
}

func panics(do func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	do()
	return false
}

func stored(t testing.TB, o *admission.Object, into runtime.Object) {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content(), into); err != nil {
		t.Fatal(err)
	}
	legacyscheme.Scheme.Default(into)
}

// judges returns the cluster, engine and oracle of a request: those of the scene, unless others
// depend on the stored object of the request.
func (st *stage) judges(t testing.TB, in admission.ClientRequest) (*admission.Cluster, *policy.Engine, *oracle) {
	if in.OldObject == nil || !st.looked[in.OldObject.GroupVersionKind().Kind] {
		return st.cluster, st.engine, st.oracle
	}
	if _, err := st.cluster.Stored(in.OldObject, in.OldObject.GroupVersionKind()); err != nil { // as if there were none
		return st.cluster, st.engine, st.oracle
	}
	old := []*admission.Object{in.OldObject}
	cluster := admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll()}, admission.NewIndex(old), st.index)
	return cluster, policy.NewEngine(cluster, st.ours, st.set), st.theirs.oracle(t, cluster, st.stateWith(in.OldObject), st.set)
}

// stateWith returns the state with an object in place of that of the same key.
func (st *stage) stateWith(o *admission.Object) []*admission.Object {
	all := []*admission.Object{o}
	for _, other := range st.all {
		if st.cluster.Key(other) != st.cluster.Key(o) {
			all = append(all, other)
		}
	}
	return all
}

// request compares the answers to one request and returns the difference, or the reason why the pair
// is invalid.
func (st *stage) request(t testing.TB, in admission.ClientRequest) string {
	ctx := context.Background()
	cluster, engine, oracle := st.judges(t, in)
	req, difference := st.mutated(t, cluster, oracle, in)
	if difference != "" || req == nil || exempt(req) {
		return difference // no policy validates it
	}
	outcome := engine.Evaluate(ctx, req)
	if again := engine.Evaluate(ctx, req); told(again) != told(outcome) { // this time by Settled
		return cmp.Diff(told(outcome), told(again))
	}
	ours, theirs := outcome.Verdict(req, nil), oracle.verdict(req)
	st.count(&outcome, theirs)
	object, old := req.Unknown()
	switch {
	case len(outcome.Indeterminate) > 0 && (len(object)+len(old) > 0 || req.OpenStatus() != nil):
		return "" // it depends on a field that a controller wrote, which is known to the oracle
	case len(outcome.Indeterminate) > 0:
		return fmt.Sprintf("indeterminate although all is known: %s", outcome.Indeterminate[0].Why)
	case same(ours, theirs):
		return ""
	case agreeInOrder(t, req, ours, oracle):
		st.tally.order++
		return ""
	}
	return cmp.Diff(theirs, ours, cmpopts.EquateEmpty())
}

// told returns everything in an outcome as text.
func told(o policy.Outcome) string {
	var b strings.Builder
	for _, d := range o.Decisions {
		fmt.Fprintln(&b, d.Policy.Name, d.Binding != nil, d.Validation, d.Cause, d.Expression, d.Message, d.Redacted, d.Reason, d.Actions)
	}
	for _, i := range o.Indeterminate {
		fmt.Fprintln(&b, i.Policy.Name, i.Why)
	}
	fmt.Fprint(&b, o.Refusal, o.AuditAnnotations, o.Evaluations)
	return b.String()
}

func same(a, b policy.Verdict) bool {
	return reflect.DeepEqual(a, b) || cmp.Equal(a, b, cmpopts.EquateEmpty())
}

// agreeInOrder evaluates upstream again with maps in sorted order, which is the only change: CEL's
// order is random, ours is sorted.
func agreeInOrder(t testing.TB, req *admission.Request, ours policy.Verdict, oracle *oracle) bool {
	ordered := compilerIn(cel.Environment).oracle(t, oracle.cluster, oracle.state, oracle.set)
	return same(ours, ordered.verdict(req))
}

func (c *comparison) count(outcome *policy.Outcome, v policy.Verdict) {
	c.tally.pairs++
	for _, counted := range []struct {
		number *int
		is     bool
	}{
		{&c.tally.evaluated, outcome.Evaluations > 0},
		{&c.tally.denied, !v.Allowed},
		{&c.tally.warned, len(v.Warnings) > 0},
		{&c.tally.audited, len(v.AuditAnnotations) > 0},
	} {
		if counted.is {
			*counted.number++
		}
	}
	text := fmt.Sprint(v)
	for _, phrase := range phrases {
		if strings.Contains(text, phrase) {
			c.tally.said[phrase]++
		}
	}
}

// exempt reports whether a resource is exempt from policies; the dispatcher below the plugin does not
// know these.
func exempt(req *admission.Request) bool {
	switch req.GetResource().Group {
	case "authentication.k8s.io", "authorization.k8s.io":
		return true
	case v1.GroupName:
		return req.GetResource().Resource != "mutatingwebhookconfigurations" && req.GetResource().Resource != "validatingwebhookconfigurations"
	}
	return false
}

// loadSuites returns the recorded suites as scenes, except those whose name has a prefix, if it is
// not empty.
func loadSuites(t testing.TB, without string) []scene {
	dirs, err := filepath.Glob("../suite/testdata/conformance/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no suites: %v", err)
	}
	var all []scene
	for _, dir := range dirs {
		if without == "" || !strings.HasPrefix(filepath.Base(dir), without) {
			all = append(all, loadSuite(t, dir))
		}
	}
	return all
}

func loadSuite(t testing.TB, dir string) scene {
	s, err := suite.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return sceneOf(s)
}

func sceneOf(s *suite.Suite) scene {
	m := scene{state: s.Context, policies: s.Policies}
	for i := range s.Requests {
		m.requests = append(m.requests, s.Requests[i].ClientRequest())
	}
	return m
}

// TestUpstreamAgrees compares this package with the API server's own plugin on the requests of each
// suite.
func TestUpstreamAgrees(t *testing.T) {
	c := newComparison()
	for _, s := range testall.Sample(loadSuites(t, ""), 50) {
		for _, d := range c.scene(t, s) {
			t.Errorf("%s (-upstream +ours):\n%s", describe(d.client), d.text)
		}
	}
	if c.tally.evaluated < testall.Count(100, 400) {
		t.Errorf("only %d requests were evaluated", c.tally.evaluated)
	}
}

func describe(in admission.ClientRequest) string {
	o := in.Object
	if o == nil || in.Subresource == "scale" {
		o = in.OldObject
	}
	return fmt.Sprintf("%s %s %s/%s %s", in.Operation, o.GroupVersionKind().Kind, o.Namespace(), o.Name(), in.Subresource)
}
