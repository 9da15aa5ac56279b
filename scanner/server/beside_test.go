package server_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// readers are expressions that read a ConfigMap, and attributes of its request, in many ways.
var readers = []string{
	"object.data.a != 'y'", "!has(object.data.b)", "has(object.data) && 'c' in object.data", "size(object.data) < 3", "object.data.size() != 2",
	"object.data.all(k, object.data[k] != 'y')", "object.data.exists(k, k == 'b')", "object.data.all(k, v, k != 'c' || v == 'x')",
	"object.?data.?c.orValue('x') == 'x'", "object.data[?'a'].hasValue()", "object.data[object.data.a] == 'x'", "object.data == oldObject.data",
	"oldObject == null || oldObject.data.a == 'x'", "has(oldObject.data) && oldObject.data.all(k, k in object.data)", "object.metadata == oldObject.metadata",
	"object.metadata.labels.app == 'x'", "!has(object.metadata.labels) || object.metadata.labels.all(l, object.metadata.labels[l] != 'y')",
	"variables.first != 'y'", "variables.list.exists(v, v == 'x')", "variables.list.filter(v, v == 'y').size() == 0", "[object.data.a, object.data.b].all(v, v != 'y')",
	"{'k': object.data}['k'].a == 'x'", "object.data.map(k, object.data[k])[0] == 'x'", "object.data.transformList(k, v, k + string(v)).size() < 3",
	"object.metadata.finalizers[0] == 'example.com/x'", "object.metadata.finalizers.size() == 1", "'example.com/y' in object.metadata.finalizers",
	"request.name != 'b'", "request.userInfo.username == 'dana'", "request.operation == 'UPDATE' && object.data.a == 'x'", "request == request && object.kind == 'ConfigMap'",
	"authorizer.group('').resource('pods').check('get').allowed()", "namespaceObject.metadata.name == object.metadata.namespace", "object.immutable == true", "true", "false",
	"string(object.data.a).startsWith('x') ? object.data.b == 'x' : true", "dyn(object).data.b == 'x'", "type(object.data.a) == string", "object.data.a + object.data.?b.orValue('') != 'xy'",
}

// readersText returns policies with one of the expressions each. Some select objects, or have conditions,
// messages or annotations that read them.
func readersText(more string) string {
	var all strings.Builder
	for i, expression := range readers {
		extra := []string{
			"", "", "  matchConditions: [{name: c, expression: \"has(object.data.c)\"}]", "  auditAnnotations: [{key: k, valueExpression: \"string(object.data.b)\"}]",
		}[i%4]
		selector := []string{"", "", "", "    objectSelector: {matchLabels: {app: x}}\n"}[i%4]
		message := []string{"", "", ", messageExpression: \"'it is ' + object.data.b\""}[i%3]
		if strings.Contains(expression, "variables.") {
			extra += "\n  variables: [{name: first, expression: object.data.a}, {name: list, expression: \"object.data.map(k, object.data[k])\"}]"
		}
		fmt.Fprintf(&all, `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p%[1]d}
spec:
  failurePolicy: %[5]s
%[2]s
  matchConstraints:
%[3]s    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}
  validations:
  - {expression: %[4]q%[6]s}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p%[1]d}
spec: {policyName: p%[1]d, validationActions: [Deny]}
`, i, extra, selector, expression, []string{"Ignore", "Fail"}[i%2], message)
	}
	return strings.TrimPrefix(strings.TrimSuffix(all.String(), "\n"), "---\n") + more
}

// TestReviewBeside: the answer to a request does not depend on an earlier verdict about another one for the
// object, although fewer policies are evaluated.
func TestReviewBeside(t *testing.T) {
	compiler := policy.NewCompiler()
	compiler.Budget = 1 << 62 // no scan judges so many
	b := server.NewBuilder(server.Options{User: admin, Compiler: compiler})
	state := objects(readersText("\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: n}}"))
	cluster := b.Cluster(admission.NewIndex(state))
	loaded := b.Load(t.Context(), cluster, state)
	for _, r := range loaded.Refusals {
		t.Fatal(r.Message)
	}
	s := b.Server(server.View{Cluster: cluster, Policies: loaded.Set})
	spared, changed, asked := 0, 0, testall.Count(300, 2000)
	for seed := range uint64(asked) {
		r := rand.New(rand.NewPCG(seed, 3))
		in := admission.ClientRequest{Operation: k8sadmission.Update, User: admin, OldObject: configMap(r), Object: configMap(r)}
		other := in
		if r.IntN(2) == 0 {
			other.Object = other.OldObject
		} else {
			other.Object = configMap(r)
		}
		switch r.IntN(8) {
		case 0:
			other.OldObject = configMap(r)
		case 1:
			other.User = &user.DefaultInfo{Name: "dana"}
		case 2:
			other.Operation, other.OldObject = k8sadmission.Create, nil
		}
		first, err := s.Review(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.Review(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.ReviewBeside(t.Context(), in, &first)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(said(want), said(got)); diff != "" {
			t.Fatalf("seed %d (-alone +beside):\n%s", seed, diff)
		}
		if got.Evaluations < want.Evaluations {
			spared += want.Evaluations - got.Evaluations
		}
		if !cmp.Equal(said(first), said(want)) {
			changed++
		}
	}
	if spared < asked*3 || changed < asked/3 {
		t.Errorf("%d evaluations spared in %d requests, of which %d are judged otherwise than those beside them", spared, asked, changed)
	}
}

// configMap returns a random object with few values.
func configMap(r *rand.Rand) *admission.Object {
	of := func(keys ...string) map[string]any {
		all := map[string]any{}
		for _, key := range keys {
			if r.IntN(4) > 0 {
				all[key] = []string{"x", "x", "x", "y"}[r.IntN(4)]
			}
		}
		return all
	}
	metadata := map[string]any{"name": "b", "namespace": "n", "labels": of("app", "tier")}
	if r.IntN(3) == 0 {
		metadata["finalizers"] = []any{[]string{"example.com/x", "example.com/y"}[r.IntN(2)]}
	}
	return admission.NewObject(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": of("a", "b", "c")})
}

// said returns everything that a verdict has against a request.
func said(v server.Verdict) (all []string) {
	for _, d := range v.Decisions {
		all = append(all, fmt.Sprint(d.Policy.Name, d.Binding.Name, d.Validation, d.Cause, d.Message, d.Reason, d.Actions))
	}
	for _, i := range v.Indeterminate {
		all = append(all, fmt.Sprint(i.Policy.Name, i.Why))
	}
	return append(all, fmt.Sprint(v.Refusal, v.Unknown, v.NeverStored, v.Warnings, v.NotStored, v.QuotaUnknown))
}
