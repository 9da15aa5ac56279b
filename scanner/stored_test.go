package scanner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

const keeps = `
-- policies/keep.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: ["*"], apiVersions: ["*"], resources: ["deployments", "routes"], operations: ["UPDATE", "DELETE"]}
  validations:
  - expression: "has(oldObject.spec.colour)"
    messageExpression: "request.operation + ' of ' + oldObject.metadata.name + (has(oldObject.spec.port) ? string(oldObject.spec.port) : string(oldObject.spec.replicas))"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep}
spec: {policyName: keep, validationActions: [Deny]}
`

// deniedBy returns the messages of denials, and the reasons of gaps.
func deniedBy(r *report.Report) (denied, unjudged []string) {
	for _, f := range r.Findings {
		if f.Action == report.ActionDeny {
			denied = append(denied, f.Message)
		}
	}
	for _, i := range r.Indeterminate {
		unjudged = append(unjudged, i.Why)
	}
	return denied, unjudged
}

// TestStoredWithoutUnknownFields checks that the server stores what the base applied without fields
// that are unknown to the kind; policies judge its update and deletion, and do not see such fields.
func TestStoredWithoutUnknownFields(t *testing.T) {
	deployment := strings.Replace(rolling, "  strategy", "  replicas: 3\n  strategy", 1)
	route := strings.Replace(twoVersions, "spec: {port: 1}", "spec:\n  port: 1", 1)
	route = strings.ReplaceAll(route, "port: {type: integer", "port: {x-kubernetes-validations: [{rule: self >= oldSelf, message: port fell}], type: integer")
	colours := strings.ReplaceAll(route, "properties: {port", "properties: {colour: {type: string}, port")
	for _, by := range apply.Appliers() {
		for _, test := range []struct {
			name, base, head string
			want             []string
		}{
			{"update of a Deployment", strings.Replace(deployment, "  strategy", "  colour: red\n  strategy", 1), strings.Replace(deployment, "replicas: 3", "replicas: 4", 1), []string{"UPDATE of web3"}},
			{"deletion of a Deployment", strings.Replace(deployment, "  strategy", "  colour: red\n  strategy", 1), "", []string{"DELETE of web3"}},
			{"update by a schema without the field", strings.Replace(colours, "  port: 1\n", "  colour: red\n  port: 1\n", 1), strings.Replace(route, "  port: 1\n", "  port: 2\n", 1), []string{"UPDATE of a1"}},
			{"update that a rule about the old value refuses", strings.Replace(colours, "  port: 1\n", "  colour: red\n  port: 1\n", 1), strings.Replace(route, "  port: 1\n", "  port: 0\n", 1), []string{"port fell"}},
			{"deletion by a schema without the field", strings.Replace(colours, "  port: 1\n", "  colour: red\n  port: 1\n", 1), route[:strings.Index(route, "-- app/")], []string{"DELETE of a1"}},
		} {
			in := input(keeps+test.base, keeps+test.head)
			in.Config.Applier = by
			denied, unjudged := deniedBy(mustScan(t, in))
			if !slices.EqualFunc(denied, test.want, strings.Contains) || len(unjudged) > 0 {
				t.Errorf("%s, %s: denied %q, not judged %q; want %q", by, test.name, denied, unjudged, test.want)
			}
		}
	}
}

// TestDeletionOfWhatWasNeverStored checks that the deletion of an object which no server can store is
// indeterminate, and reported.
func TestDeletionOfWhatWasNeverStored(t *testing.T) {
	base := strings.Replace(rolling, "  strategy", "  replicas: many\n  strategy", 1)
	for _, by := range apply.Appliers() {
		in := input(keeps+base, keeps)
		in.Config.Applier = by
		denied, unjudged := deniedBy(mustScan(t, in))
		if len(denied) > 0 || len(unjudged) != 1 || !strings.Contains(unjudged[0], "the server cannot have had the object as it was before") {
			t.Errorf("%s: denied %q, not judged %q", by, denied, unjudged)
		}
	}
}

const limits = `
-- policies/limit.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"]}
  validations:
  - {expression: "false", message: no Deployments}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec: {policyName: limit, validationActions: [Deny]}
`

// TestUnknownFieldsOfPolicies checks a policy or binding with an unknown field: it has no effect if
// its applier uses strict field validation, and has an effect with a warning otherwise.
func TestUnknownFieldsOfPolicies(t *testing.T) {
	const (
		strict = `: unknown field "spec.matchCondition"`
		typed  = ".spec.matchCondition: field not declared in schema"
	)
	policy := strings.Replace(limits, "  validations", "  matchCondition: []\n  validations", 1)
	binding := strings.Replace(limits, "policyName: limit", "policyName: limit, matchCondition: []", 1)
	for by, want := range map[apply.Applier]string{
		"": "", apply.Flux: "", apply.ArgoCD: "", apply.ArgoCDSSA: typed, apply.Kubectl: strict, apply.KubectlSSA: typed, apply.Replace: strict,
	} {
		for _, head := range []string{policy, binding} {
			in := input(limits[:strings.Index(limits, "-- ")]+"-- x/y.txt --\n", head+rolling)
			in.Config.Applier = string(by)
			r := mustScan(t, in)
			denied, unjudged := deniedBy(r)
			warned := slices.ContainsFunc(r.Findings, func(f report.Finding) bool {
				return f.Action == report.ActionWarn && f.Message == `unknown field "spec.matchCondition"`
			})
			wanted := want
			if want == "" {
				wanted = "no Deployments"
			}
			if len(denied) != 1 || !strings.Contains(denied[0], wanted) || len(unjudged) > 0 || warned != (want == "") {
				t.Errorf("%q: denied %q, not judged %q, warned %v; want %q", by, denied, unjudged, warned, wanted)
			}
		}
	}
}

// TestUnknownFieldsOfGivenPolicies checks that a policy given in addition to the trees is already in
// the cluster, so that no applier makes the server refuse it.
func TestUnknownFieldsOfGivenPolicies(t *testing.T) {
	for _, by := range apply.Appliers() {
		in := input("\n-- x/y.txt --\n", rolling)
		in.Config.Applier = by
		in.Extra = []scanner.Extra{{Name: "given", FS: tree(strings.Replace(limits, "  validations", "  matchCondition: []\n  validations", 1)), Policies: true}}
		denied, unjudged := deniedBy(mustScan(t, in))
		if len(denied) != 1 || denied[0] != "no Deployments" || len(unjudged) > 0 {
			t.Errorf("%s: denied %q, not judged %q", by, denied, unjudged)
		}
	}
}

// TestStoredEmbeddedMetadata checks that a server decodes the metadata of an embedded resource like
// that of an object when it reads from storage, so a null that server-side apply keeps is gone at the
// next update.
func TestStoredEmbeddedMetadata(t *testing.T) {
	base := `
-- crds/boxes.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  names: {kind: Box, plural: boxes, singular: box, listKind: BoxList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}}
-- app/box.yaml --
apiVersion: example.com/v1
kind: Box
metadata: {name: a, namespace: shop}
spec: {size: 1, template: {apiVersion: v1, kind: Pod, metadata: {name: null, labels: {a: b}}}}
` + updateRule("example.com", "boxes", "'name' in object.spec.template.metadata && !('name' in oldObject.spec.template.metadata)")
	r := scanLive(t, base, strings.Replace(base, "size: 1", "size: 2", 1), "", apply.Flux)
	if got := outcomeOf(r); got != "" {
		t.Error(got)
	}
}
