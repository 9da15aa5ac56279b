package suite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

// shop is a suite with a policy that requires small ConfigMaps and Secrets.
const shop = `-- policies.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps, secrets]}]
  variables:
  - {name: first, expression: "object.data['a']"}
  validations:
  - {expression: "object.data.all(k, object.data[k].size() < 10)", message: too long}
  - {expression: "variables.first != 'bad' && object.metadata.name != params", message: bad}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small}
spec: {policyName: small.example.com, validationActions: [Deny, Audit]}
-- requests.yaml --
requests:
- name: fine
  operation: CREATE
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}
- name: long
  operation: CREATE
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: abcdefghij}}
- name: elsewhere
  operation: CREATE
  object: {apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}
`

func testSuite(t *testing.T, archive string) *Result {
	t.Helper()
	s, err := Load(suiteTree(archive))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Test(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fix returns the suite with a policy that the server accepts.
func fix(archive string) string {
	return strings.ReplaceAll(archive, " && object.metadata.name != params", "")
}

func TestDifferences(t *testing.T) {
	tests := []struct {
		name, expected string
		want           []string // request: field
	}{
		{"as it is", "verdicts:\n- {name: fine, allowed: true, warnings: [], auditAnnotations: {}}\n- {name: long, allowed: false, code: 422, reason: Invalid}\n", nil},
		{"what is not stated is not compared", "verdicts:\n- {name: fine}\n- {name: long, warnings: []}\n", nil},
		{"what is stated is", "verdicts:\n- {name: fine, allowed: false, message: nope}\n- {name: long, allowed: false, code: 403, auditAnnotations: {a: b}}\n",
			[]string{"fine: allowed", "fine: message", "long: code", "long: auditAnnotations"}},
		{"a record states everything", "recordedFrom: somewhere\nverdicts:\n- {name: fine, allowed: true}\n- {name: long, allowed: false}\n",
			[]string{"long: code", "long: reason", "long: message", "long: auditAnnotations"}},
		{"a refusal that does not happen", "policyErrors:\n- {kind: ValidatingAdmissionPolicy, name: small.example.com}\nverdicts: []\n",
			[]string{": policyErrors[ValidatingAdmissionPolicy/small.example.com]"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range testSuite(t, fix(shop)+"-- expected.yaml --\n"+test.expected).Failures {
				for _, d := range f.Differences {
					got = append(got, f.Request+": "+d.Field)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefusedPolicy checks that a refused policy, which judges nothing, is always a failure.
func TestRefusedPolicy(t *testing.T) {
	const silent = "-- expected.yaml --\nverdicts:\n- {name: fine, allowed: true}\n"
	r := testSuite(t, shop+silent)
	if len(r.Failures) != 1 || r.Failures[0].Request != "" || !strings.Contains(r.Failures[0].Differences[0].Actual.(string), "params") {
		t.Errorf("failures %+v, want one about the policy", r.Failures)
	}
	stated := "-- expected.yaml --\npolicyErrors: [{kind: ValidatingAdmissionPolicy, name: small.example.com}]\nverdicts: []\n"
	if r := testSuite(t, shop+stated); len(r.Failures) > 0 {
		t.Errorf("failures %+v, want none: the refusal is stated", r.Failures)
	}
	worded := strings.Replace(stated, "small.example.com}", "small.example.com, message: other words}", 1)
	if r := testSuite(t, shop+worded); len(r.Failures) != 1 {
		t.Errorf("failures %+v, want one about the words", r.Failures)
	}
}

func TestExplanations(t *testing.T) {
	r := testSuite(t, fix(shop)+"-- expected.yaml --\nverdicts:\n- {name: long, allowed: true}\n- {name: elsewhere, allowed: false}\n")
	if len(r.Failures) != 2 {
		t.Fatalf("failures %+v, want two", r.Failures)
	}
	want := []report.Explanation{{
		Policy: "small.example.com", Binding: "small", Cause: "validation", Actions: []string{"Deny", "Audit"},
		Message: "too long", Expression: "object.data.all(k, object.data[k].size() < 10)",
		Values: []report.Value{{Path: "object.data", Value: `{"a":"abcdefghij"}`}},
	}}
	if diff := cmp.Diff(want, r.Failures[0].Explanations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f := r.Failures[1]; f.Evaluations != 0 || f.Explanations != nil {
		t.Errorf("%+v: want no policy behind the answer to %s", f, f.Request)
	}
	if r.compared["fine"] || !r.compared["long"] {
		t.Error("want long compared, and fine only run")
	}
}

// TestExplanationsMask checks that values of a Secret are shown nowhere, including through
// variables.
func TestExplanationsMask(t *testing.T) {
	archive := strings.NewReplacer("kind: ConfigMap", "kind: Secret", "data: {a: b}", "stringData: {a: bad}", "data: {a: abcdefghij}",
		"stringData: {a: hunter2}", "!= 'bad'", "== 'x'").Replace(fix(shop))
	r := testSuite(t, archive+"-- expected.yaml --\nverdicts:\n- {name: long, allowed: true}\n")
	if len(r.Failures) != 1 {
		t.Fatalf("failures %+v, want one", r.Failures)
	}
	var got []string
	for _, e := range r.Failures[0].Explanations {
		for _, v := range e.Values {
			got = append(got, v.Path+" = "+v.Value)
		}
	}
	want := []string{`object.data = {"a":"(masked)"}`, `variables.first = "(masked)"`, `object.data.a = "(masked)"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	archive := strings.Replace(fix(shop), "abcdefghij", strings.Repeat("é", 5000), 1)
	r := testSuite(t, archive+"-- expected.yaml --\nverdicts:\n- {name: long, allowed: true}\n")
	value := r.Failures[0].Explanations[0].Values[0].Value
	if len(value) > 210 || !strings.HasSuffix(value, "é…") {
		t.Errorf("%d bytes %q, want 200 at most and whole characters", len(value), value)
	}
}

// TestIndeterminate checks that an indeterminate verdict never counts as the expected one by
// accident.
func TestIndeterminate(t *testing.T) {
	const conversion = `-- context.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://example.com/convert"}}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
-- policies.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: widgets.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: ["*"], resources: [widgets]}]
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: widgets}
spec: {policyName: widgets.example.com, validationActions: [Deny]}
-- requests.yaml --
requests:
- name: other-version
  operation: CREATE
  object: {apiVersion: example.com/v2, kind: Widget, metadata: {name: a}}
`
	r := testSuite(t, conversion+"-- expected.yaml --\nverdicts: [{name: other-version, allowed: true}]\n")
	if len(r.Failures) != 1 || r.Failures[0].Differences[0].Field != "indeterminate" {
		t.Fatalf("failures %+v, want one: it takes a webhook to know", r.Failures)
	}
	again := testSuite(t, conversion+"-- expected.yaml --\n"+record(t, r))
	if len(again.Failures) > 0 || len(again.Verdicts[0].Indeterminate) == 0 {
		t.Errorf("failures %+v, want none when the file says that it is indeterminate", again.Failures)
	}
}

func record(t *testing.T, r *Result) string {
	t.Helper()
	data, err := r.Record()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRecord checks that the next run accepts the output of Record, byte for byte.
func TestRecord(t *testing.T) {
	control := strings.ReplaceAll(shop, "message: too long", `message: "\x7Fmany\u0085ways\u0007"`)
	for _, archive := range []string{shop, fix(shop), fix(control)} {
		first := testSuite(t, archive)
		if first.Kept() {
			t.Error("a suite without expected.yaml has none to keep")
		}
		again := testSuite(t, archive+"-- expected.yaml --\n"+record(t, first))
		if len(again.Failures) > 0 || !again.Kept() {
			t.Errorf("failures %+v, kept %v: want a record that agrees", again.Failures, again.Kept())
		}
		if diff := cmp.Diff(record(t, first), record(t, again)); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	}
}

func TestRunSome(t *testing.T) {
	s, err := Load(suiteTree(fix(shop)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Test(t.Context(), func(name string) bool { return name == "long" })
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Verdicts) != 1 || r.Verdicts[0].Name != "long" {
		t.Errorf("verdicts %+v, want that of long alone", r.Verdicts)
	}
}
