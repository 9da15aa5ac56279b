package custom

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"
)

// Establish sets the status of a stored CustomResourceDefinition as the server's controllers do, if
// it has none. Its scope and names are immutable only with this status.
func Establish(obj runtime.Object, created metav1.Time) {
	crd, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok || len(crd.Status.Conditions) > 0 {
		return
	}
	crd.Status.AcceptedNames = crd.Spec.Names
	crd.Status.Conditions = append(crd.Status.Conditions,
		apiextensions.CustomResourceDefinitionCondition{
			Type: apiextensions.NamesAccepted, Status: apiextensions.ConditionTrue, LastTransitionTime: created,
			Reason: "NoConflicts", Message: "no conflicts found",
		},
		established(crd.Spec.Conversion, created),
	)
	if apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		crd.Status.Conditions = append(crd.Status.Conditions, approval(crd.Annotations, created))
	}
}

// established returns the condition of definitions whose names are accepted
// (k8s.io/apiextensions-apiserver/pkg/controller/establish).
func established(conversion *apiextensions.CustomResourceConversion, created metav1.Time) apiextensions.CustomResourceDefinitionCondition {
	c := apiextensions.CustomResourceDefinitionCondition{
		Type: apiextensions.Established, Status: apiextensions.ConditionTrue, LastTransitionTime: created,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	if conversion != nil && conversion.WebhookClientConfig != nil && len(webhook.ValidateCABundle(field.NewPath(""), conversion.WebhookClientConfig.CABundle)) > 0 {
		c.Status, c.Reason, c.Message = apiextensions.ConditionFalse, "InvalidCABundle", "The conversion webhook CABundle is invalid"
	}
	return c
}

// approval returns the condition of definitions in Kubernetes' own groups
// (k8s.io/apiextensions-apiserver/pkg/controller/apiapproval).
func approval(annotations map[string]string, created metav1.Time) apiextensions.CustomResourceDefinitionCondition {
	state, message := apihelpers.GetAPIApprovalState(annotations)
	c := apiextensions.CustomResourceDefinitionCondition{
		Type: apiextensions.KubernetesAPIApprovalPolicyConformant, Status: apiextensions.ConditionFalse,
		LastTransitionTime: created, Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		c.Status, c.Reason = apiextensions.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		c.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		c.Reason = "MissingAnnotation"
	case apihelpers.APIApprovalInvalid:
		c.Reason = "InvalidAnnotation"
	}
	return c
}
