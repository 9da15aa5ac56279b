package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/warning"
)

// clean does to the metadata that is sent what the handlers of an API server do
// before admission: equal owner references become one, with a warning, and
// managedFields that cannot be read are dropped
// (k8s.io/apiserver/pkg/endpoints/handlers/rest.go, fieldmanager).
func clean(ctx context.Context, m metav1.Object) {
	var kept []metav1.OwnerReference
	var repeated []string
	for _, ref := range m.GetOwnerReferences() {
		if slices.ContainsFunc(kept, func(r metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(r, ref) }) {
			repeated = append(repeated, string(ref.UID))
			continue
		}
		kept = append(kept, ref)
	}
	if len(repeated) > 0 {
		warning.AddWarning(ctx, "", fmt.Sprintf(handlers.DuplicateOwnerReferencesWarningFormat, strings.Join(repeated, ", ")))
		m.SetOwnerReferences(kept)
	}
	if managedfields.ValidateManagedFields(m.GetManagedFields()) != nil {
		m.SetManagedFields(nil)
	}
}

// orphansPods is what the server warns of when a Job is deleted without saying
// what becomes of its pods (k8s.io/kubernetes/pkg/registry/batch/job/storage).
const orphansPods = "child pods are preserved by default when jobs are deleted; " +
	"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// warnOfOrphans warns as the server does of a DELETE without options. GitOps
// controllers and kubectl always say what becomes of dependents.
func (p *preparation) warnOfOrphans(ctx context.Context) {
	if p.ask.Applier == "" && p.handler.resource.GroupResource() == gr("batch", "jobs") {
		warning.AddWarning(ctx, "", orphansPods)
	}
}
