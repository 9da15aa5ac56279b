package admission

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
)

// establish gives a stored CustomResourceDefinition the status that the server's
// controllers give it, on which the immutability of its scope and names depends.
func establish(obj runtime.Object) {
	crd, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	for _, c := range []apiextensions.CustomResourceDefinitionCondition{
		{Type: apiextensions.NamesAccepted, Reason: "NoConflicts", Message: "no conflicts found"},
		{Type: apiextensions.Established, Reason: "InitialNamesAccepted", Message: "the initial names have been accepted"},
	} {
		c.Status, c.LastTransitionTime = apiextensions.ConditionTrue, created
		crd.Status.Conditions = append(crd.Status.Conditions, c)
	}
}
