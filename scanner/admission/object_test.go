package admission

import (
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// TestObjectsStayText: a request that the server takes leaves no decoded content in its objects, which would take
// several times the memory of their text.
func TestObjectsStayText(t *testing.T) {
	base, head := object(t, webDeployment), object(t, webDeployment+"  replicas: 2\n")
	for _, by := range []apply.Applier{apply.Flux, apply.ArgoCD, apply.Replace} {
		for _, a := range []Ask{ask("CREATE", head, nil), ask("UPDATE", head, base), ask("DELETE", nil, base)} {
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
