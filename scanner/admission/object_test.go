package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// TestObjectsStayText: an allowed request leaves no decoded content in its objects, which would take several
// times the memory of their text.
func TestObjectsStayText(t *testing.T) {
	base, head := object(t, webDeployment), object(t, webDeployment+"  replicas: 2\n")
	for _, by := range []apply.Applier{apply.Flux, apply.ArgoCD, apply.Replace} {
		for _, a := range []ClientRequest{ask("CREATE", head, nil), ask("UPDATE", head, base), ask("DELETE", nil, base)} {
			a.Applier = by
			if _, _, err := open(t).Prepare(t.Context(), a); err != nil {
				t.Fatalf("%s %s: %v", by, a.Operation, err)
			}
			if base.content != nil || head.content != nil {
				t.Fatalf("%s %s: content is kept", by, a.Operation)
			}
		}
	}
}

// TestDefinitionsStayText: how a kind is served is read without its schemas, in whatever form the definition
// is.
func TestDefinitionsStayText(t *testing.T) {
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:"
	for _, spec := range []string{
		" {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object}}, subresources: {status: {}, scale: {}}}, {name: v2, served: true}, {name: v3, served: false}]}",
		" {group: example.com, scope: Cluster, names: {plural: widgets, kind: Widget, singular: w}, versions: [{name: v1, served: true, subresources: null}, 1, null, {served: true}]}",
		" {group: example.com, names: [widgets], versions: {v1: {}}}",
		" {group: 1, scope: 1, names: {plural: 1, kind: Widget}, versions: [{name: 1, served: 'true'}]}",
		" []",
		"",
	} {
		o := object(t, head+spec)
		decoded := NewObject(o.passingContent())
		of := func(o *Object) []any {
			c := NewCluster(ClusterOptions{}, NewIndex([]*Object{o}))
			return []any{o.Defined(), c.Resources()[len(NewCluster(ClusterOptions{}).Resources()):]}
		}
		if diff := cmp.Diff(of(decoded), of(o)); diff != "" {
			t.Errorf("%q (-content +text):\n%s", spec, diff)
		}
		if o.content != nil {
			t.Errorf("%q: content is kept", spec)
		}
	}
}
