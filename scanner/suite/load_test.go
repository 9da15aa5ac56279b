package suite

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// suiteTree returns a file system from a txtar archive.
func suiteTree(archive string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return fsys
}

// named returns an object of the API group of policies.
func named(kind, name string) string {
	return "{apiVersion: admissionregistration.k8s.io/v1, kind: " + kind + ", metadata: {name: " + name + "}}\n"
}

func TestLoadMistakes(t *testing.T) {
	const one = `-- requests.yaml --
requests:
- {name: a, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
`
	tests := []struct{ name, archive, want string }{
		{"no requests.yaml", "-- policies.yaml --\n", "requests.yaml: there is no such file: a suite needs one"},
		{"empty", "-- requests.yaml --\n", "requests.yaml:1:1: the file is empty"},
		{"nothing but a comment", "-- requests.yaml --\n# later\n", "requests.yaml:1:1: the file is empty"},
		{"empty list", "-- requests.yaml --\nrequests: []\n", "requests.yaml:1:11: requests: required: a list of requests"},
		{"no list", "-- requests.yaml --\nrequests: {a: b}\n", "requests.yaml:1:11: requests: want a list, not a mapping"},
		{"two documents", one + "---\nrequests: []\n", "requests.yaml:3:1: a second YAML document: the file must be one document"},
		{"syntax", "-- requests.yaml --\nrequests:\n- name: a\n\toperation: CREATE\n", "requests.yaml:2:1: not valid YAML: found a tab character that violates indentation"},
		{"unclosed", "-- requests.yaml --\nrequests: [\n", "requests.yaml:2:1: not valid YAML: did not find expected node content"},
		{"endless alias", "-- requests.yaml --\nrequests:\n- &a\n  <<: *a\n", "requests.yaml:1:1: not valid YAML: anchor 'a' value contains itself"},
		{"endless alias in a list", "-- requests.yaml --\nrequests: &a [*a]\n", "requests.yaml:1:1: not valid YAML: anchor 'a' value contains itself"},
		{"endless alias in an object", one + "-- context.yaml --\n{apiVersion: v1, kind: A, a: &a {b: *a}}\n", "context.yaml:1:1: not valid YAML: anchor 'a' value contains itself"},
		{"unknown key", "-- requests.yaml --\nrequests:\n- name: a\n  operaton: CREATE\n",
			"requests.yaml:3:3: requests[0].operaton: unknown key (did you mean operation?)"},
		{"unknown key at the top", one + "request: []\n", "requests.yaml:3:1: request: unknown key (did you mean requests?)"},
		{"repeated key", one + "requests: []\n", "requests.yaml:3:1: requests: repeated key, first on line 1"},
		{"repeated key in an object", "-- requests.yaml --\nrequests:\n- name: a\n  operation: CREATE\n  object:\n    kind: A\n    apiVersion: v1\n    kind: B\n",
			"requests.yaml:7:5: requests[0].object.kind: repeated key, first on line 5"},
		{"no name", "-- requests.yaml --\nrequests:\n- operation: DELETE\n  oldObject: {apiVersion: v1, kind: A}\n",
			"requests.yaml:2:3: requests[0].name: required: a name of its own"},
		{"names not unique", one + "- {name: a, operation: CREATE, object: {apiVersion: v1, kind: A}}\n",
			`requests.yaml:3:10: requests[1].name: repeated name "a", first on line 2`},
		{"boolean name", "-- requests.yaml --\nrequests:\n- name: no\n",
			"requests.yaml:2:9: requests[0].name: want a string, not the boolean no (quote it)"},
		{"unknown operation", "-- requests.yaml --\nrequests:\n- name: a\n  operation: PATCH\n",
			`requests.yaml:3:14: requests[0].operation: unknown operation "PATCH", want CREATE, UPDATE or DELETE`},
		{"no operation", "-- requests.yaml --\nrequests:\n- name: a\n",
			"requests.yaml:2:3: requests[0].operation: required: CREATE, UPDATE or DELETE"},
		{"UPDATE without oldObject", "-- requests.yaml --\nrequests:\n- name: a\n  operation: UPDATE\n  object: {apiVersion: v1, kind: A}\n",
			"requests.yaml:2:3: requests[0].oldObject: required: an UPDATE needs the object as it was"},
		{"CREATE with oldObject", "-- requests.yaml --\nrequests:\n- name: a\n  operation: CREATE\n  object: {apiVersion: v1, kind: A}\n  oldObject: {apiVersion: v1, kind: A}\n",
			"requests.yaml:5:14: requests[0].oldObject: a CREATE has no oldObject; an UPDATE has"},
		{"DELETE with object", "-- requests.yaml --\nrequests:\n- name: a\n  operation: DELETE\n  object: {apiVersion: v1, kind: A}\n",
			"requests.yaml:2:3: requests[0].oldObject: required: a DELETE needs the object to delete\n" +
				"requests.yaml:4:11: requests[0].object: a DELETE has no object; what is deleted is its oldObject"},
		{"object without kind", "-- requests.yaml --\nrequests:\n- name: a\n  operation: CREATE\n  object: {apiVersion: v1, metadata: {name: a}}\n",
			"requests.yaml:4:11: requests[0].object.kind: required: a string"},
		{"nameless user", "-- requests.yaml --\nrequests:\n- name: a\n  operation: CREATE\n  user: {groups: [g]}\n  object: {apiVersion: v1, kind: A}\n",
			"requests.yaml:4:9: requests[0].user.username: required: the name of the user"},
		{"verdict on nothing", one + "-- expected.yaml --\nverdicts:\n- name: b\n  allowed: true\n",
			`expected.yaml:2:9: verdicts[0].name: no request is named "b" in requests.yaml`},
		{"two verdicts", one + "-- expected.yaml --\nverdicts:\n- name: a\n- name: a\n",
			`expected.yaml:3:9: verdicts[1].name: repeated name "a", first on line 2`},
		{"unknown key of a verdict", one + "-- expected.yaml --\nverdicts:\n- name: a\n  allow: true\n",
			"expected.yaml:3:3: verdicts[0].allow: unknown key (did you mean allowed?)"},
		{"type of a verdict's field", one + "-- expected.yaml --\nverdicts:\n- name: a\n  allowed: denied\n  code: forbidden\n  auditAnnotations: [a]\n",
			"expected.yaml:3:12: verdicts[0].allowed: want true or false, not the string \"denied\"\n" +
				"expected.yaml:4:9: verdicts[0].code: want a whole number, not the string \"forbidden\"\n" +
				"expected.yaml:5:21: verdicts[0].auditAnnotations: want a mapping, not a list"},
		{"nameless policy error", one + "-- expected.yaml --\npolicyErrors:\n- kind: ValidatingAdmissionPolicy\nverdicts: []\n",
			"expected.yaml:2:3: policyErrors[0].name: required: the name of the policy or binding"},
		{"broken context, second document", one + "-- context.yaml --\napiVersion: v1\nkind: Namespace\n---\na: [\n",
			"context.yaml:5:1: not valid YAML: did not find expected node content"},
		{"no object", one + "-- policies.yaml --\n---\n\n---\nfoo: bar\n",
			"policies.yaml:4:1: no Kubernetes object: apiVersion and kind are required"},
		{"a list for an object", one + "-- policies.yaml --\n- a\n", "policies.yaml:1:1: want a Kubernetes object, not a list"},
		{"repeated key of a policy", one + "-- policies.yaml --\napiVersion: v1\nkind: A\nkind: B\n",
			"policies.yaml:3:1: kind: repeated key, first on line 2"},
		{"no such path", "-- requests.yaml --\npolicies: [nowhere]\n" + strings.TrimPrefix(one, "-- requests.yaml --\n"),
			"requests.yaml:1:12: policies[0]: there is no nowhere"},
		{"path out of reach", "-- requests.yaml --\npolicies: [../a]\n" + strings.TrimPrefix(one, "-- requests.yaml --\n"),
			`requests.yaml:1:12: policies[0]: "../a" is out of reach`},
		{"absolute path", "-- requests.yaml --\npolicies: [/a]\n" + strings.TrimPrefix(one, "-- requests.yaml --\n"),
			`requests.yaml:1:12: policies[0]: "/a": give a path relative to the suite`},
		{"directory without objects", "-- requests.yaml --\npolicies: [p]\n" + strings.TrimPrefix(one, "-- requests.yaml --\n") + "-- p/README --\n",
			"requests.yaml:1:12: policies[0]: p holds no objects: it has no YAML or JSON files"},
		{"two params of one name", one + "-- context.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, data: {c: d}}\n",
			"context.yaml:3:1: ConfigMap/b/a is written twice, first at context.yaml:1: a cluster has one of a name, so remove or rename one"},
		{"a policy among what the cluster has", one + "-- context.yaml --\n" + named("MutatingAdmissionPolicy", "p"),
			"context.yaml:1:1: a MutatingAdmissionPolicy is not in force here: move it to policies.yaml"},
		{"a file of another extension", one + "-- expected.yml --\nverdicts: []\n-- policies.json --\n-- context.yaml --\n-- context.yml --\n",
			"policies.json: is not read: its name has to be policies.yaml\nexpected.yml: is not read: its name has to be expected.yaml"},
		{"an object without a name", one + "-- context.yaml --\n{apiVersion: v1, kind: Namespace, metadata: {nam: a}}\n",
			"context.yaml:1:1: a Namespace without metadata.name: what a cluster has already has a name"},
		{"no policy of the API server", one + "-- policies.yaml --\n" + named("ValidatingAdmissionPolicy", "p") + "---\n\n{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: p}}\n",
			"policies.yaml:4:1: nothing reads a ClusterPolicy of kyverno.io/v1 here, which is no policy of the API server: remove it, or name its kind as the paramKind of a policy"},
		{"a policy of another group", one + "-- policies.yaml --\n{apiVersion: admissionregistration/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}}\n",
			"policies.yaml:1:1: there is no ValidatingAdmissionPolicy in admissionregistration/v1, but in admissionregistration.k8s.io/v1: correct its apiVersion"},
		{"a misspelt kind", one + "-- policies.yaml --\n" + named("ValidatingAdmisionPolicyBinding", "p"),
			"policies.yaml:1:1: there is no ValidatingAdmisionPolicyBinding in admissionregistration.k8s.io/v1 (did you mean ValidatingAdmissionPolicyBinding?)"},
		{"a webhook among policies", one + "-- policies.yaml --\n" + named("ValidatingWebhookConfiguration", "p"),
			"policies.yaml:1:1: the webhooks of a ValidatingWebhookConfiguration are not called here: remove it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(suiteTree(test.archive))
			if err == nil {
				t.Fatalf("no error, want %s", test.want)
			}
			if diff := cmp.Diff(strings.Split(test.want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoadSameTwice checks that repeated equal objects are accepted, as in recorded suites.
func TestLoadSameTwice(t *testing.T) {
	const limit = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}, data: {c: d}}\n"
	s, err := Load(suiteTree(`-- requests.yaml --
requests:
- {name: a, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
-- context.yaml --
` + limit + "---\n" + limit))
	if err != nil || len(s.Context) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestLoadPolicyPaths(t *testing.T) {
	s, err := Load(suiteTree(`-- requests.yaml --
policies: [one.json, more]
requests:
- &first {name: a, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, data: {n: "1"}, big: 9007199254740993}}
- <<: *first
  name: b
-- policies.yaml --
{apiVersion: v1, kind: Namespace, metadata: {name: own}}
-- one.json --
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "A", "metadata": {"name": "listed"}}]}
-- more/b.yaml --
---
# nothing here
---
{apiVersion: v1, kind: A, metadata: {name: b}}
-- more/a/a.yml --
{apiVersion: v1, kind: A, metadata: {name: a}}
-- more/kustomization.yaml --
resources: [b.yaml]
-- more/notes.txt --
nothing
`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range s.Policies {
		names = append(names, o.Name())
	}
	if diff := cmp.Diff([]string{"own", "listed", "a", "b"}, names); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	if len(s.Requests) != 2 || s.Requests[1].Operation != "CREATE" {
		t.Fatalf("requests %+v, want two, the second merged", s.Requests)
	}
	if got := s.Requests[1].Object["big"]; got != int64(9007199254740993) {
		t.Errorf("a whole number is %v (%T), want it whole", got, got)
	}
}

// TestLoadState checks that objects which policies and the server read may be in the files of
// policies, that a file named twice is read once, that items take their kind from their list, and
// that policies of the same name are accepted.
func TestLoadState(t *testing.T) {
	s, err := Load(suiteTree(`-- requests.yaml --
policies: [policies.yaml, extra.yaml]
requests:
- {name: a, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
-- policies.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyList
items:
- metadata: {name: p}
  spec: {paramKind: {apiVersion: v1, kind: ConfigMap}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: limit}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: n}}
-- extra.yaml --
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}
---
` + named("ValidatingAdmissionPolicy", "q") + "---\n" + named("ValidatingAdmissionPolicyBinding", "q") + "---\n" + named("ValidatingAdmissionPolicy", "q")))
	if err != nil {
		t.Fatal(err)
	}
	if kind := s.Policies[0].GroupVersionKind(); kind.Kind != "ValidatingAdmissionPolicy" || kind.Group != "admissionregistration.k8s.io" || s.Policies[0].Name() != "p" {
		t.Errorf("the item of the list is %s %s", kind, s.Policies[0].Name())
	}
	repeated := s.Repeated()
	if len(repeated) != 1 || repeated[0].Key.Name != "q" || repeated[0].Path != "extra.yaml" || repeated[0].Line != 3 {
		t.Errorf("written twice: %+v", repeated)
	}
	unread := s.Unread()
	if len(unread) != 1 || unread[0].Name() != "d" {
		t.Fatalf("nothing reads %v", unread)
	}
	if path, line := s.Place(unread[0].Object); path != "extra.yaml" || line != 1 {
		t.Errorf("it is at %s:%d", path, line)
	}
}
