package builtin

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

// CleanMetadata does to the metadata that is sent what the handlers of an API server do
// before admission: equal owner references become one, with a warning, and
// managedFields that cannot be read are dropped
// (k8s.io/apiserver/pkg/endpoints/handlers/rest.go, fieldmanager).
func CleanMetadata(ctx context.Context, m metav1.Object) {
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
