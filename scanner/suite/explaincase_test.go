package suite

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/explain"
)

const explainedRequests = `requests:
- name: pod
  operation: CREATE
  object:
    apiVersion: v1
    kind: Pod
    metadata: {name: web, namespace: default}
    spec: {containers: [{name: a, image: good/a}, {name: b, image: bad/b}, {name: c, image: good/c}]}
- name: secret
  operation: CREATE
  object: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}, stringData: {password: hunter2}}
- name: gone
  operation: DELETE
  oldObject: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default}, spec: {containers: [{name: a, image: a}]}}
`

// explainedCase returns the explanation of a case with one policy. spec is its spec without
// matchConstraints.
func explainedCase(t *testing.T, name, spec, binding string) *report.ExplainReport {
	t.Helper()
	policies := `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.example.com}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods, secrets]}]}
` + spec + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p.example.com, validationActions: [Deny]` + binding + `}
`
	s, err := Load(fstest.MapFS{PoliciesFile: {Data: []byte(policies)}, RequestsFile: {Data: []byte(explainedRequests)}})
	if err != nil {
		t.Fatal(err)
	}
	r, ok, err := s.Explain(t.Context(), name, explain.Options{Types: true})
	if err != nil || !ok || len(r.Refused) > 0 {
		t.Fatal(err, ok, r.Refused)
	}
	return r
}

// part returns the part of an expression with a text, also from rounds of loops.
func part(parts []report.ExplainedPart, text string) *report.ExplainedPart {
	for i := range parts {
		p := &parts[i]
		if p.Text == text {
			return p
		}
		if found := part(p.Parts, text); found != nil {
			return found
		}
		for _, r := range p.Rounds {
			if found := part(r.Parts, text); found != nil {
				return found
			}
		}
	}
	return nil
}

// TestExplainParts checks that each part has the value it has when evaluated alone.
func TestExplainParts(t *testing.T) {
	for _, test := range []struct{ expression, part, want string }{
		{"object.metadata.name == 'web'", "object.metadata.name", `value "web"`},
		{"object.metadata.name == 'web' || object.spec.nodeName == 'x'", `object.spec.nodeName == "x"`, "skipped "},
		{"object.spec.nodeName == 'x' || object.metadata.name == 'web'", `object.spec.nodeName`, "error no such key: nodeName"},
		{"has(object.spec.nodeName) ? object.spec.nodeName == 'x' : object.metadata.name == 'web'", "has(object.spec.nodeName)", "value false"},
		{"(has(object.spec.nodeName) ? object.spec.nodeName : object.metadata.name) == 'web'", "object.metadata.name", `value "web"`},
		{"object.spec.containers[size(object.metadata.name) - 2].image == 'x'", "size(object.metadata.name) - 2", "value 1"},
		{"object.spec.containers.map(c, c.name) == ['a', 'b', 'c']", "object.spec.containers.map(c, c.name)", `value ["a", "b", "c"]`},
		{"object.spec.containers.filter(c, c.image.startsWith('bad')).size() == 0", `object.spec.containers.filter(c, c.image.startsWith("bad")).size()`, "value 1"},
		{"object.spec.containers.exists_one(c, c.image == 'bad/b')", `object.spec.containers.exists_one(c, c.image == "bad/b")`, "value true"},
		{"object.spec.containers.all(c, object.spec.containers.exists(d, d.name == c.name))", "d.name == c.name", "value true"},
		{"object.spec.containers.exists(c, has(c.ports) && c.ports.exists(p, p.containerPort == 1))", "c.ports.exists(p, p.containerPort == 1)", "skipped "},
		{"object.spec.containers.exists(c, c.name == 'none' || object.spec.containers.exists(d, d.name == 'c' && c.name == 'c'))", `d.name == "c" && c.name == "c"`, "value false"},
		{"object.spec.containers.all(c, size(c.name.split('').map(l, l + '!')) == 1)", `l + "!"`, `value "a!"`},
		{"duration('1h') > duration('1m')", `duration("1h")`, `value duration("1h0m0s")`},
		{"object.?spec.nodeName.orValue('none') == 'none'", "object.?spec.nodeName", "value optional.none()"},
		{"quantity('1Gi').isGreaterThan(quantity('1Mi'))", `quantity("1Gi")`, "value kubernetes.Quantity"},
		{"authorizer.group('').resource('pods').check('create').allowed()", `authorizer.group("").resource("pods").check("create").allowed()`, "value true"},
	} {
		spec, err := json.Marshal(test.expression)
		if err != nil {
			t.Fatal(err)
		}
		r := explainedCase(t, "pod", "  validations: [{expression: "+string(spec)+"}]", "")
		e := r.Policies[0].Expressions[0]
		p := part(e.Parts, test.part)
		if p == nil {
			t.Errorf("%s has no part %s: %+v", test.expression, test.part, e.Parts)
			continue
		}
		if got := fmt.Sprintf("%s %s%s", p.State, p.Value, p.Why); got != test.want {
			t.Errorf("%s: %s is %q, want %q", test.expression, test.part, got, test.want)
		}
		if whole := e.Parts[0]; whole.Value != e.Value || whole.State != e.State {
			t.Errorf("%s: the whole is %s %q, the expression %s %q", test.expression, whole.State, whole.Value, e.State, e.Value)
		}
	}
}

// TestExplainRounds checks that a loop has a round for each element that it reached.
func TestExplainRounds(t *testing.T) {
	r := explainedCase(t, "pod", `  validations: [{expression: "object.spec.containers.all(c, c.image.startsWith('good/'))"}]`, "")
	whole := r.Policies[0].Expressions[0].Parts[0]
	if len(whole.Rounds) != 2 || whole.MoreRounds != 0 {
		t.Fatalf("%d rounds and %d more, want those of a and b: all() ends with the one that is false", len(whole.Rounds), whole.MoreRounds)
	}
	for i, want := range []string{"true", "false"} {
		if got := whole.Rounds[i]; got.Index != i || got.Bound[0].Name != "c" || got.Parts[0].Value != want {
			t.Errorf("round %d: %+v, want %s", i, got, want)
		}
	}
	long := explainedCase(t, "pod", `  validations: [{expression: "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16].all(n, n < 15)"}]`, "")
	whole = long.Policies[0].Expressions[0].Parts[0]
	last := whole.Rounds[len(whole.Rounds)-1]
	if len(whole.Rounds) != 8 || whole.MoreRounds != 7 || last.Index != 14 || last.Parts[0].Value != "false" {
		t.Errorf("%d rounds and %d more, the last %+v: want 8 of 15 with the one that decides", len(whole.Rounds), whole.MoreRounds, last)
	}
}

// TestExplainBranches checks that of two branches with the same fields one is evaluated.
func TestExplainBranches(t *testing.T) {
	for condition, want := range map[string]string{"web": "value value skipped", "other": "value skipped value"} {
		r := explainedCase(t, "pod", `  validations: [{expression: "(object.metadata.name == '`+condition+`' ? object.metadata.namespace : object.metadata.namespace) == 'default'"}]`, "")
		var states []string
		for _, p := range r.Policies[0].Expressions[0].Parts[0].Parts[0].Parts {
			states = append(states, string(p.State))
		}
		if got := strings.Join(states, " "); got != want {
			t.Errorf("%s: the parts are %s, want %s", condition, got, want)
		}
	}
}

// TestExplainVariables checks that a variable has its parts, or the reason why it was not read, and that
// values missing because of match conditions have this reason.
func TestExplainVariables(t *testing.T) {
	const spec = `  variables:
  - {name: images, expression: "object.spec.containers.map(c, c.image)"}
  - {name: unread, expression: "object.metadata.name"}
  matchConditions: [{name: is-web, expression: "object.metadata.name == '%s'"}]
  validations: [{expression: "variables.images.size() == 3", messageExpression: "'no: ' + variables.images.join(',')"}]
  auditAnnotations: [{key: k, valueExpression: "string(variables.images[0])"}]`
	p := explainedCase(t, "pod", fmt.Sprintf(spec, "web"), "").Policies[0]
	got := map[string]string{}
	for _, e := range p.Expressions {
		got[e.Field] = strings.TrimSpace(fmt.Sprintf("%s %s%s", e.State, e.Value, e.Why))
	}
	for field, want := range map[string]string{
		"spec.variables[0].expression":             `value ["good/a", "bad/b", "good/c"]`,
		"spec.variables[1].expression":             "skipped no expression that was evaluated reads it",
		"spec.matchConditions[0].expression":       "value true",
		"spec.validations[0].expression":           "value true",
		"spec.validations[0].messageExpression":    `value "no: good/a,bad/b,good/c"`,
		"spec.auditAnnotations[0].valueExpression": `value "good/a"`,
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
	if image := part(p.Expressions[1].Parts, "c.image"); image == nil || image.Value != `"good/a"` {
		t.Errorf("the variable's parts: %+v", p.Expressions[1].Parts)
	}
	p = explainedCase(t, "pod", fmt.Sprintf(spec, "other"), "").Policies[0]
	if p.Applies != "no" || !p.Matching[1].Decides || p.Matching[1].Field != "spec.matchConditions[0]" {
		t.Errorf("applies %s by %+v, want no, by the match condition", p.Applies, p.Matching)
	}
}

// TestExplainMatching checks which field is named as the reason why a policy does not apply.
func TestExplainMatching(t *testing.T) {
	const spec = `  validations: [{expression: "true"}]`
	for _, test := range []struct{ name, binding, field, why string }{
		{"gone", "", "spec.matchConstraints.resourceRules", "operations [CREATE] do not have DELETE"},
		{"pod", ", matchResources: {namespaceSelector: {matchLabels: {a: b}}}", "spec.matchResources.namespaceSelector", `namespace "default" has the labels`},
		{"pod", ", matchResources: {objectSelector: {matchLabels: {a: b}}}", "spec.matchResources.objectSelector", "the object has the labels {}"},
		{"pod", `, matchResources: {excludeResourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: [pods]}]}`, "spec.matchResources.excludeResourceRules", "is excluded"},
		{"secret", `, matchResources: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}`, "spec.matchResources.resourceRules", "are for others"},
	} {
		p := explainedCase(t, test.name, spec, test.binding).Policies[0]
		var decided []string
		for _, m := range p.Matching {
			if m.Decides {
				decided = append(decided, m.Field+" "+m.Why)
			}
		}
		if p.Applies != "no" || len(decided) != 1 || !strings.HasPrefix(decided[0], test.field) || !strings.Contains(decided[0], test.why) {
			t.Errorf("%s%s: applies %s, decided by %q, want %s ... %s", test.name, test.binding, p.Applies, decided, test.field, test.why)
		}
	}
	if p := explainedCase(t, "pod", spec, "").Policies[0]; p.Applies != "yes" {
		t.Errorf("applies %s: %+v", p.Applies, p.Matching)
	}
}

// TestExplainSecret checks that an explanation shows no content of a Secret.
func TestExplainSecret(t *testing.T) {
	r := explainedCase(t, "secret", `  variables: [{name: v, expression: "object.data"}]
  validations:
  - {expression: "variables.v.all(k, size(variables.v[k]) > 100)", messageExpression: "'it is ' + string(variables.v['password'])"}
  - {expression: "object.metadata.name == 's'"}`, "")
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, held := range []string{"hunter2", "aHVudGVyMg"} {
		if strings.Contains(string(data), held) {
			t.Errorf("%s is in %s", held, data)
		}
	}
	p := r.Policies[0]
	if v := p.Expressions[0].Value; !strings.Contains(v, "masked") {
		t.Errorf("the variable is %q", v)
	}
	if name := part(p.Expressions[3].Parts, "object.metadata.name"); name == nil || name.Value != `"s"` {
		t.Errorf("what does not depend on the values is masked: %+v", p.Expressions[3])
	}
}

// TestExplainOmitted: policies beyond the first 100 are counted.
func TestExplainOmitted(t *testing.T) {
	policies := `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p.example.com}, spec: {
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, validations: [{expression: "true"}]}}
`
	for i := range 103 {
		policies += fmt.Sprintf("---\n{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b%d}, spec: {policyName: p.example.com, validationActions: [Deny]}}\n", i)
	}
	s, err := Load(fstest.MapFS{PoliciesFile: {Data: []byte(policies)}, RequestsFile: {Data: []byte(explainedRequests)}})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Explain(t.Context(), "pod", explain.Options{})
	if err != nil || len(r.Policies) != 100 || r.Omitted != 3 {
		t.Errorf("%d policies and %d omitted, %v, want 100 and 3", len(r.Policies), r.Omitted, err)
	}
}

// TestExplainBombs checks that what is shown of very large expressions is bounded.
func TestExplainBombs(t *testing.T) {
	ten := "[0,1,2,3,4,5,6,7,8,9]"
	nested := "true"
	for i := range 5 {
		nested = fmt.Sprintf("%s.all(v%d, %s)", ten, i, nested)
	}
	long := "object.metadata.name == 'a'" + strings.Repeat(" || object.metadata.name == 'a'", 60)
	for _, expression := range []string{nested, long, strings.Repeat("(", 20) + "object.metadata.name == 'x'" + strings.Repeat(")", 20)} {
		r := explainedCase(t, "pod", "  validations: [{expression: \""+expression+"\"}]", "")
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 1<<20 {
			t.Errorf("%.60s... is explained with %d bytes", expression, len(data))
		}
	}
}

// explainedFiles returns the explanation of the request with a name in a suite of these files, and its
// whole JSON.
func explainedFiles(t *testing.T, policies, context, requests, name string, opts explain.Options) (*report.ExplainReport, string) {
	t.Helper()
	s, err := Load(fstest.MapFS{PoliciesFile: {Data: []byte(policies)}, ContextFile: {Data: []byte(context)}, RequestsFile: {Data: []byte(requests)}})
	if err != nil {
		t.Fatal(err)
	}
	r, ok, err := s.Explain(t.Context(), name, opts)
	if err != nil || !ok || len(r.Refused) > 0 {
		t.Fatal(err, ok, r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(data)
}

const copyingPolicies = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p1}
spec:
  paramKind: {apiVersion: v1, kind: Secret}
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations:
  - {expression: "false", messageExpression: "'got ' + string(params.data.password)"}
  - {expression: "object.metadata.annotations.pw == 'x'"}
  auditAnnotations: [{key: leak, valueExpression: "'pw ' + string(params.data.password)"}, {key: open, valueExpression: "'named ' + object.metadata.name"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b1}
spec: {policyName: p1, validationActions: [Warn, Audit], paramRef: {name: sec, namespace: default, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m1}
spec:
  paramKind: {apiVersion: v1, kind: Secret}
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{annotations: {'pw': string(params.data.password), 'short': params.data.password.substring(0, 3), 'plain': 'shown'}}}"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mb1}
spec: {policyName: m1, paramRef: {name: sec, namespace: default, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p2}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}
  matchConditions: [{name: c, expression: "{'a': true}[string(object.data.password)]"}]
  validations: [{expression: "false", messageExpression: "'got ' + string(object.data.password)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b2}
spec: {policyName: p2, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m2}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}
  mutations:
  - {patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'pw': string(object.data.password)}}, JSONPatch{op: 'copy', from: '/data/password', path: '/metadata/annotations/copied'}]"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mb2}
spec: {policyName: m2}
`

const copyingSecret = `{apiVersion: v1, kind: Secret, metadata: {name: sec, namespace: default}, data: {password: aHVudGVyMnNlY3JldA==}}`

// TestExplainCopiedSecret checks that values which policies copy from a Secret to another object, an
// audit annotation or an error are not shown, whichever policy is selected.
func TestExplainCopiedSecret(t *testing.T) {
	requests := `requests:
- {name: cm, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}}
- {name: secret, operation: CREATE, object: ` + strings.Replace(copyingSecret, "sec,", "other,", 1) + `}
`
	for _, name := range []string{"cm", "secret"} {
		for _, opts := range []explain.Options{{}, {Policy: "p2"}, {Policy: "m1"}} {
			r, text := explainedFiles(t, copyingPolicies, copyingSecret, requests, name, opts)
			for _, held := range []string{"aHVudGVy", "hunter2", "short: aHV"} {
				if strings.Contains(text, held) {
					t.Errorf("%s, %+v: %s is in %s", name, opts, held, text)
				}
			}
			if changes := strings.Join(r.Changes, "\n"); !strings.Contains(changes, "pw: (masked)") || name == "cm" && !strings.Contains(changes, "plain: shown") {
				t.Errorf("%s: the changes are\n%s", name, changes)
			}
			if got := r.Answer.AuditAnnotations; name == "cm" && (got["p1/leak"] != "(masked)" || got["p1/open"] != "named a") {
				t.Errorf("the audit annotations are %v", got)
			}
		}
	}
}

// TestExplainShortSecret checks that a short value of a Secret is not shown by policies that read a
// copy, whether they quote it, format it otherwise or are invoked earlier.
func TestExplainShortSecret(t *testing.T) {
	const policies = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: a-again}
spec:
  reinvocationPolicy: IfNeeded
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{annotations: {'again': 'v-' + object.metadata.?annotations[?'pw'].orValue('none')}}}"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: a-again}
spec: {policyName: a-again}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m1}
spec:
  paramKind: {apiVersion: v1, kind: Secret}
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{annotations: {'pw': params.data.password}}}"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mb1}
spec: {policyName: m1, paramRef: {name: sec, namespace: default, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p1}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  variables: [{name: pw, expression: "object.metadata.annotations.pw"}]
  validations:
  - {expression: "variables.pw.upperAscii() == 'x'", messageExpression: "'no ' + variables.pw.upperAscii()"}
  - {expression: "object.metadata.name == 'cXo3'"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b1}
spec: {policyName: p1, validationActions: [Warn, Audit]}
`
	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: sec, namespace: default}, data: {password: cXo3}}`
	const requests = `requests:
- {name: cm, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: default, annotations: {kept: shown}}}}
`
	r, text := explainedFiles(t, policies, secret, requests, "cm", explain.Options{})
	text = strings.ReplaceAll(text, `name == 'cXo3'`, "")
	text = strings.ReplaceAll(text, `name == \"cXo3\"`, "")
	for _, held := range []string{"cXo3", "CXO3"} {
		if at := strings.Index(text, held); at >= 0 {
			t.Errorf("%s is told: %s", held, text[max(0, at-200):min(len(text), at+100)])
		}
	}
	if changes := strings.Join(r.Changes, "\n"); !strings.Contains(changes, "kept: shown") || !strings.Contains(changes, "pw: (masked)") {
		t.Errorf("the changes are\n%s", changes)
	}
	if e := r.Policies[2].Expressions; part(e[3].Parts, "object.metadata.name").Value != `"other"` {
		t.Errorf("what depends on no Secret is masked: %+v", e)
	}
}

// TestExplainParams checks that each param of each binding has its own values, costs and changes, also
// if a single binding is selected.
func TestExplainParams(t *testing.T) {
	const policies = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m1}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  matchConditions: [{name: always, expression: "true"}]
  mutations:
  - {patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels/' + params.data.key, value: string(size(object.metadata.labels))}]"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mb1}
spec: {policyName: m1, paramRef: {selector: {matchLabels: {p: y}}, namespace: default, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: mb2}
spec: {policyName: m1, paramRef: {name: c3, namespace: default, parameterNotFoundAction: Deny}}
`
	var context strings.Builder
	for i, labels := range []string{"{p: y}", "{p: y}", "{}"} {
		fmt.Fprintf(&context, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: default, labels: %s}, data: {key: k%[1]d}}\n", i+1, labels)
	}
	const requests = `requests:
- {name: pod, operation: CREATE, object: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, labels: {a: b}}, spec: {containers: [{name: x, image: a}]}}}
`
	for _, opts := range []explain.Options{{}, {Binding: "mb2"}, {Param: "c2"}} {
		r, text := explainedFiles(t, policies, context.String(), requests, "pod", opts)
		found := 0
		for _, p := range r.Policies {
			n := strings.TrimPrefix(p.Param, "default/c")
			if found++; len(p.Matching) != len(r.Policies[0].Matching) || len(p.Costs) != 2 || len(p.Expressions) != 2 {
				t.Fatalf("%+v: %d matching, %d costs, %d expressions of %+v", opts, len(p.Matching), len(p.Costs), len(p.Expressions), p)
			}
			if e := p.Expressions[1]; !strings.Contains(e.Value, fmt.Sprintf("labels/k%s\", value: \"%[1]s\"", n)) {
				t.Errorf("%+v: %s gives %s", opts, p.Param, e.Value)
			}
			added := ""
			for _, line := range p.Changes {
				if strings.HasPrefix(line, "+") {
					added += line
				}
			}
			if want := fmt.Sprintf("+    k%s: \"%[1]s\"", n); added != want {
				t.Errorf("%+v: %s adds %q, want %q", opts, p.Param, added, want)
			}
		}
		if want := map[bool]int{true: 3, false: 1}[opts == explain.Options{}]; found != want {
			t.Errorf("%+v: %d policies, want %d: %s", opts, found, want, text)
		}
	}
}

// TestExplainMissing checks that policies without a binding and bindings without a policy, of both
// kinds, are listed with what is missing.
func TestExplainMissing(t *testing.T) {
	rules := "resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]"
	s, err := Load(fstest.MapFS{RequestsFile: {Data: []byte(explainedRequests)}, PoliciesFile: {Data: []byte(`
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: alone}, spec: {matchConstraints: {` + rules + `}, validations: [{expression: 'true'}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: nowhere, validationActions: [Deny]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: m}, spec: {policyName: alone}}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, only := range []string{"", "nowhere"} {
		r, _, err := s.Explain(t.Context(), "pod", explain.Options{Policy: only})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range r.Policies {
			got = append(got, fmt.Sprintf("%s %s, %s: %s, %s %s: %s", p.Kind, p.Name, p.Binding, p.Applies, p.Matching[0].Of, p.Matching[0].Field, p.Matching[0].Why))
		}
		want := []string{
			`MutatingAdmissionPolicy alone, m: no, binding spec.policyName: there is no MutatingAdmissionPolicy "alone", so the binding takes no effect`,
			`ValidatingAdmissionPolicy alone, : no, policy metadata.name: no binding has the policyName "alone", so the policy takes no effect`,
			`ValidatingAdmissionPolicy nowhere, b: no, binding spec.policyName: there is no ValidatingAdmissionPolicy "nowhere", so the binding takes no effect`,
		}
		if only != "" {
			want = want[2:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", only, diff)
		}
	}
}
