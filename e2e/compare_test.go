package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/suite"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestCompareObjects(t *testing.T) {
	tests := []struct {
		name, server, ours string
		want               []string
	}{
		{"what a server makes up", `
kind: Job
metadata: {name: j, uid: u-1, creationTimestamp: "2026-01-01T00:00:00Z", resourceVersion: "7", managedFields: [{}], labels: {owner: u-1}}
`, `
kind: Job
metadata: {name: j, uid: other, labels: {owner: other}}
`, nil},
		{"generated names", `{kind: Pod, metadata: {generateName: p-, name: p-abcde}}`, `{kind: Pod, metadata: {generateName: p-, name: p-zzzzz}}`, nil},
		{"other names", `{kind: Pod, metadata: {name: a}}`, `{kind: Pod, metadata: {name: b}}`, []string{"object.metadata.name: a, b"}},
		{"allocated addresses and ports",
			`{kind: Service, spec: {clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], ports: [{port: 80, nodePort: 30001}]}}`,
			`{kind: Service, spec: {clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9], ports: [{port: 80, nodePort: 31234}]}}`, nil},
		{"a headless Service has none", `{kind: Service, spec: {clusterIP: None}}`, `{kind: Service, spec: {clusterIP: 10.0.0.9}}`,
			[]string{"object.spec.clusterIP: None, an address"}},
		{"conditions of a definition in any order",
			`{kind: CustomResourceDefinition, status: {conditions: [{type: B, lastTransitionTime: "1"}, {type: A}]}}`,
			`{kind: CustomResourceDefinition, status: {conditions: [{type: A}, {type: B, lastTransitionTime: "2"}]}}`, nil},
		{"a field in a list", `{spec: {ports: [{port: 80}, {port: 81}]}}`, `{spec: {ports: [{port: 80}, {port: 82}]}}`,
			[]string{"object.spec.ports[1].port: 81, 82"}},
		{"a list of another length", `{spec: {ports: [1, 2]}}`, `{spec: {ports: [1]}}`, []string{"object.spec.ports: [1 2], [1]"}},
		{"a field on one side", `{spec: {paused: false}}`, `{spec: {}}`, []string{"object.spec.paused: false, <nil>"}},
		{"null is not absent", `{rules: null}`, `{}`, []string{"object.rules: null, <nil>"}},
		{"null is not empty", `{rules: null}`, `{rules: []}`, []string{"object.rules: <nil>, []"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range compareObjects("object", object(t, test.server), object(t, test.ours)) {
				got = append(got, fmt.Sprintf("%s: %v, %v", d.path, d.server, d.ours))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordDifferences(t *testing.T) {
	denied := suite.Verdict{Name: "a", Code: 422, Reason: "Invalid", Message: "no", Warnings: []string{"w"}}
	other := denied
	other.Message, other.Warnings = "never", nil
	recorded := &suite.Expected{Verdicts: []suite.Verdict{denied, {Name: "b", Allowed: true, Warnings: []string{}}}}
	now := &suite.Expected{
		PolicyErrors: []suite.PolicyError{{Kind: "ValidatingAdmissionPolicy", Name: "p", Message: "bad"}},
		Verdicts:     []suite.Verdict{other, {Name: "b", Allowed: true}, {Name: "c", Allowed: true}},
	}
	differences, err := recordDifferences(recorded, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range differences {
		got = append(got, fmt.Sprintf("%s %s: %v, %v", d.request, d.field, d.recorded, d.now))
	}
	want := []string{
		" policyErrors: [], [ValidatingAdmissionPolicy p: bad]",
		"a message: no, never",
		"a warnings: [w], <nil>",
		"c the verdict: <nil>, true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestStored(t *testing.T) {
	p := newPreparer(t.Context(), &suite.Suite{})
	claim := `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	request := suite.Request{Name: "create", Operation: "CREATE", Object: object(t, claim)}
	ours, err := p.prepare(t.Context(), request.ClientRequest())
	if err != nil {
		t.Fatal(err)
	}
	status, _ := ours.object["status"].(map[string]any)
	if status["phase"] != "Pending" {
		t.Errorf("status is %v, want the phase that reading from storage sets", status)
	}
}

func TestCollection(t *testing.T) {
	config := func(name, namespace, value string) *admission.Object {
		return admission.NewObject(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"value": value},
			"metadata": map[string]any{"name": name, "namespace": namespace},
		})
	}
	c := newCollection()
	for _, o := range []*admission.Object{
		config("a", "shop", "1"), config("a", "shop", "1"), config("a", "shop", "2"), config("b", "", "1"),
		admission.NewObject(object(t, `{apiVersion: v1, kind: Namespace, metadata: {name: shop}}`)),
	} {
		if err := c.object(o); err != nil {
			t.Fatal(err)
		}
	}
	var updates []string
	for _, r := range updatesOf(c) {
		updates = append(updates, fmt.Sprint(r.Name, ": ", r.OldObject["data"], " to ", r.Object["data"]))
	}
	want := []string{
		"update ConfigMap/shop/a #0: map[value:1] to map[value:1]",
		"update ConfigMap/shop/a #1: map[value:1] to map[value:2]",
		"update ConfigMap/shop/a #2: map[value:2] to map[value:2]",
		"update ConfigMap/default/b #3: map[value:1] to map[value:1]",
	}
	if diff := cmp.Diff(want, updates); diff != "" {
		t.Errorf("updates (-want +got):\n%s", diff)
	}
	var state []string
	for _, o := range stateFor(c, nil) {
		state = append(state, o.Name())
	}
	if diff := cmp.Diff([]string{"shop", "default"}, state); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"suite"}, exitFailure, "-preadmit is required"},
		{[]string{"-preadmit", "p"}, exitFailure, "nothing to compare"},
		{[]string{"-h"}, exitAgreement, "Usage of conformance"},
		{[]string{"-preadmit", "p", "-apiserver", "no-such-file", "suite"}, exitFailure, ""},
	}
	for _, test := range tests {
		t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
		var stdout, stderr strings.Builder
		if code := Main(t.Context(), test.args, &stdout, &stderr); code != test.code {
			t.Errorf("%q: exit code %d, want %d", test.args, code, test.code)
		}
		if !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%q: stderr is %q, want %q", test.args, &stderr, test.want)
		}
	}
}

// TestFirstUnsaid: a kubectl that ended early did not process the files after the last one in its output.
func TestFirstUnsaid(t *testing.T) {
	files := []string{"d/secret-u-1-x.yaml", "d/service-u-2-x.yaml", "d/service-u-21-x.yaml", "d/service-u-3-x.yaml"}
	for said, want := range map[string]int{
		"": 0, "secret/u-1-x created\n": 1, "secret/u-1-x created\nservice/u-21-x unchanged\n": 3, "service/u-3-x configured (server dry run)\n": 4,
	} {
		if got := firstUnreported(files, said); got != want {
			t.Errorf("after %q the first is %d, want %d", said, got, want)
		}
	}
}

func TestSameMessage(t *testing.T) {
	manifest := map[string]any{
		"metadata": map[string]any{"egress": true, "tls.crt": "a", "labels": map[string]any{"x": true}},
		"spec": map[string]any{"containers": []any{
			map[string]any{"name": "a]", "egress": true, "tls.key": "a"}, map[string]any{"name": "b", "tls.key": "b"},
		}},
	}
	refusal := func(problems string) string {
		return "failed to create typed patch object (/a; v1, Kind=Pod): " + problems
	}
	const undeclared = ": field not declared in schema"
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{refusal(".metadata.tls.crt" + undeclared), refusal(".metadata.egress" + undeclared), true},
		{refusal(".metadata.tls.crt" + undeclared), refusal(".metadata.labels.x" + undeclared), false},
		{refusal(`.spec.containers[name="a]"].tls.key` + undeclared), refusal(`.spec.containers[name="a]"].egress` + undeclared), true},
		{refusal(`.spec.containers[name="a]"].tls.key` + undeclared), refusal(`.spec.containers[name="b"].tls.key` + undeclared), false},
		{refusal(".metadata.none" + undeclared), refusal(".metadata.egress" + undeclared), false},
		{
			refusal("errors:\n  .metadata.tls.crt" + undeclared + "\n  .metadata.labels.x: expected string, got &value.valueUnstructured{Value:true}"),
			refusal("errors:\n  .metadata.labels.x: expected string, got &value.valueUnstructured{Value:true}\n  .metadata.egress" + undeclared), true,
		},
		{
			`Namespace "a" is invalid: [metadata.labels: Invalid value: "x ": no, metadata.labels: Invalid value: "y ": no]`,
			`Namespace "a" is invalid: [metadata.labels: Invalid value: "y ": no, metadata.labels: Invalid value: "x ": no]`, true,
		},
		{
			`Namespace "a" is invalid: [metadata.labels: Invalid value: "x ": no, metadata.labels: Invalid value: "y ": no]`,
			`Namespace "a" is invalid: [metadata.labels: Invalid value: "x ": no, metadata.labels: Invalid value: "z ": no]`, false,
		},
		{"invalid object, Code: 4, Key: /registry/pods/a/b", "invalid object, Code: 4, Key: /pods/a/b", true},
		{"invalid object, Code: 4, Key: /registry/pods/a/b", "invalid object, Code: 4, Key: /pods/a/c", false},
		{`Pod "a" is invalid: [spec.a: Required value, spec.b: Required value]`, `Pod "a" is invalid: [spec.b: Required value, spec.a: Required value]`, false},
	} {
		if same := sameMessage(c.a, c.b, manifest); same != c.same {
			t.Errorf("%s\n%s: same is %t", c.a, c.b, same)
		}
	}
}
