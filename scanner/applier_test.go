package scanner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestAppliers checks that the configuration has all appliers.
func TestAppliers(t *testing.T) {
	if got, want := config.Appliers(), apply.Appliers(); !slices.Equal(got, want) {
		t.Errorf("configured %q, known %q", got, want)
	}
}

const rolling = `
-- app/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  strategy: {type: RollingUpdate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
`

// TestARefusalThatHangsOnTheApplier checks that the verdict is indeterminate if the applier is not
// known: the server keeps rollingUpdate under server-side apply and refuses the object, but accepts
// it from kubectl replace.
func TestARefusalThatHangsOnTheApplier(t *testing.T) {
	recreate := strings.Replace(rolling, "RollingUpdate", "Recreate", 1)
	otherSelector := strings.ReplaceAll(rolling, "app: web}", "app: shop}")
	const kept, immutable = "spec.strategy.rollingUpdate: Forbidden", "field is immutable"
	for _, test := range []struct {
		head     string
		by       apply.Applier
		denied   string
		unjudged string
	}{
		{recreate, apply.Flux, kept, ""},
		{recreate, apply.KubectlSSA, kept, ""},
		{recreate, apply.Replace, "", ""},
		{recreate, apply.Kubectl, "", ""},
		{recreate, "", "", kept},
		{otherSelector, apply.Flux, immutable, ""},
		{otherSelector, "", immutable, ""},
	} {
		in := input(rolling, test.head)
		in.Config.Applier = string(test.by)
		r := mustScan(t, in)
		var denied, unjudged []string
		for _, f := range r.Findings {
			denied = append(denied, f.Message)
		}
		for _, i := range r.Indeterminate {
			unjudged = append(unjudged, i.Why)
		}
		says := func(got []string, want string) bool {
			return want == "" && len(got) == 0 || want != "" && len(got) == 1 && slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) })
		}
		if !says(denied, test.denied) || !says(unjudged, test.unjudged) {
			t.Errorf("applier %q: denied %q, not judged %q; want %q and %q", test.by, denied, unjudged, test.denied, test.unjudged)
		}
	}
}

const twoVersions = `
-- crds/routes.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.example.com}
spec:
  group: example.com
  names: {kind: Route, plural: routes, singular: route, listKind: RouteList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {port: {type: integer}}}}}}}
  - {name: v1alpha2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {port: {type: integer, maximum: 10}}}}}}}
-- app/route.yaml --
apiVersion: example.com/v1alpha2
kind: Route
metadata: {name: a, namespace: shop}
spec: {port: 1}
`

// TestAppliesAnotherVersion checks that a custom resource is applied in the version that is sent
// and by its schema, whatever the stored version is.
func TestAppliesAnotherVersion(t *testing.T) {
	for _, by := range apply.Appliers() {
		for port, want := range map[string]int{"2": 0, "20": 1} {
			in := input(twoVersions, strings.Replace(twoVersions, "port: 1}", "port: "+port+"}", 1))
			in.Config.Applier = by
			r := mustScan(t, in)
			if len(r.Findings) != want || r.Summary.Requests != 1 || len(r.Indeterminate) > 0 {
				t.Errorf("%s, port %s: %d requests, %+v, %+v", by, port, r.Summary.Requests, r.Findings, r.Indeterminate)
			}
		}
		in := input("", twoVersions)
		in.Config.Applier = by
		if r := mustScan(t, in); len(r.Findings) > 0 {
			t.Errorf("%s, when it is new: %+v", by, r.Findings)
		}
	}
}

// TestUnknownFields checks for which tools the server refuses an unknown field, and with which
// message, for a new object and for a changed one.
func TestUnknownFields(t *testing.T) {
	const (
		route    = "spec: {port: 1}"
		created  = ` cannot be handled as a %: strict decoding error: unknown field "spec.colour"`
		patched  = `strict decoding error: unknown field "spec.colour"`
		typed    = ".spec.colour: field not declared in schema"
		argoPuts = "annotations: {argocd.argoproj.io/sync-options: Replace=true}, "
	)
	for _, test := range []struct {
		kind             string
		by               apply.Applier
		created, changed string
	}{
		{"Deployment", apply.Kubectl, created, patched},
		{"Deployment", apply.Replace, created, created},
		{"Deployment", apply.KubectlSSA, typed, typed},
		{"Deployment", apply.ArgoCD, "", ""},
		{"Deployment", apply.ArgoCDSSA, typed, typed},
		{"Deployment", apply.Flux, "", ""},
		{"Route", apply.Kubectl, created, patched},
		{"Route", apply.Replace, created, created},
		{"Route", apply.ArgoCD, "", ""},
	} {
		base, at := rolling, "  strategy"
		if test.kind == "Route" {
			base, at = strings.Replace(twoVersions, route, "spec:\n  port: 1", 1), "  port: 1"
		}
		head := strings.Replace(base, at, "  colour: red\n"+at, 1)
		definition, _, _ := strings.Cut(base, "-- app/")
		ask := func(base, head, denied string) {
			t.Helper()
			in := input(base, head)
			in.Config.Applier = string(test.by)
			messages, warned := "", false
			for _, f := range mustScan(t, in).Findings {
				if f.Action == "Warn" {
					warned = true
				} else {
					messages += f.Message
				}
			}
			denied = strings.ReplaceAll(denied, "%", test.kind)
			if (messages == "") != (denied == "") || !strings.Contains(messages, denied) || warned != (denied == "") {
				t.Errorf("%s, %s: denied %q, warned %v; want %q", test.kind, test.by, messages, warned, denied)
			}
		}
		ask(definition, head, test.created)
		ask(base, head, test.changed)
		if test.by == apply.ArgoCD {
			put := strings.NewReplacer("metadata: {name: web", "metadata: {"+argoPuts+"name: web", "metadata: {name: a,", "metadata: {"+argoPuts+"name: a,")
			ask(put.Replace(base), put.Replace(head), "")
		}
	}
}
