package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/warning"
)

// DedupOwners removes repeated owner references and adds a warning, whose text differs before and after
// mutating admission (k8s.io/apiserver/pkg/endpoints/handlers/rest.go).
func DedupOwners(ctx context.Context, m metav1.Object, mutated bool) {
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
		format := handlers.DuplicateOwnerReferencesWarningFormat
		if mutated {
			format = handlers.DuplicateOwnerReferencesAfterMutatingAdmissionWarningFormat
		}
		warning.AddWarning(ctx, "", fmt.Sprintf(format, strings.Join(repeated, ", ")))
		m.SetOwnerReferences(kept)
	}
}
