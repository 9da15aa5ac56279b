package quota

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/quota/v1/install"
)

// UsageError means that the unknown usage of a quota decides whether a request exceeds it.
type UsageError struct {
	// Message is the refusal of a server on which the quota is used up.
	Message string
}

func (e *UsageError) Error() string {
	return "how much of the quota is used is not known; where all is, the API server refuses it: " + e.Message
}

// Check returns the refusal of the ResourceQuota plugin; nil for none. The usage of quotas is that of
// their status; usage that is missing there is unknown. The error is a UsageError if the unknown
// usage decides.
func Check(quotas []*corev1.ResourceQuota, a admission.Attributes) error {
	evaluator := evaluatorOf(a)
	if len(quotas) == 0 || evaluator == nil {
		return nil
	}
	whenFree := refusal(quotas, a, evaluator, func(resource.Quantity) resource.Quantity { return resource.MustParse("0") })
	whenFull := refusal(quotas, a, evaluator, resource.Quantity.DeepCopy)
	switch {
	case whenFull == nil:
		return nil
	case whenFree == nil:
		return &UsageError{Message: WithoutUsage(whenFull.Error())}
	case whenFree.Error() == whenFull.Error():
		return whenFree
	}
	if status, ok := whenFree.(apierrors.APIStatus); ok { // it is refused whatever is used
		s := status.Status()
		s.Message = WithoutUsage(s.Message)
		return &apierrors.StatusError{ErrStatus: s}
	}
	return whenFree
}

// CheckStatus returns the refusal of the ResourceQuota plugin on a server whose quotas have the
// written status.
func CheckStatus(quotas []*corev1.ResourceQuota, a admission.Attributes) error {
	evaluator := evaluatorOf(a)
	if len(quotas) == 0 || evaluator == nil {
		return nil
	}
	var written []corev1.ResourceQuota
	for _, q := range quotas {
		written = append(written, *q.DeepCopy())
	}
	return check(written, a, evaluator)
}

// WithoutUsage returns a refusal with "unknown" in place of the usage.
func WithoutUsage(message string) string {
	head, rest, _ := strings.Cut(message, ", used: ")
	if _, limited, ok := strings.Cut(rest, ", limited: "); ok {
		return head + ", used: unknown, limited: " + limited
	}
	return message
}

// refusal returns the plugin's error if used computes the missing usage from each limit.
func refusal(quotas []*corev1.ResourceQuota, a admission.Attributes, evaluator quota.Evaluator, used func(resource.Quantity) resource.Quantity) error {
	var filled []corev1.ResourceQuota
	for _, q := range quotas {
		q = q.DeepCopy()
		if q.Status.Used == nil {
			q.Status.Used = corev1.ResourceList{}
		}
		for name, limit := range q.Status.Hard {
			if _, ok := q.Status.Used[name]; !ok {
				q.Status.Used[name] = used(limit)
			}
		}
		filled = append(filled, *q)
	}
	return check(filled, a, evaluator)
}

// check runs the plugin, with quotas sorted by name.
func check(quotas []corev1.ResourceQuota, a admission.Attributes, evaluator quota.Evaluator) error {
	slices.SortFunc(quotas, func(x, y corev1.ResourceQuota) int { return strings.Compare(x.Name, y.Name) })
	_, err := resourcequota.CheckRequest(quotas, a, evaluator, nil)
	return err
}

// evaluatorOf returns the evaluator of the usage of a resource; nil if it is not counted
// (k8s.io/apiserver/pkg/admission/plugin/resourcequota, Evaluate).
func evaluatorOf(a admission.Attributes) quota.Evaluator {
	resource := a.GetResource().GroupResource()
	if _, ignored := install.DefaultIgnoredResources()[resource]; ignored || a.GetNamespace() == "" {
		return nil
	}
	evaluator := evaluators().Get(resource)
	if evaluator == nil {
		evaluator = generic.NewObjectCountEvaluator(resource, nil, "")
	}
	if !evaluator.Handles(a) {
		return nil
	}
	return evaluator
}

var evaluators = sync.OnceValue(func() quota.Registry {
	configuration, err := install.NewQuotaConfigurationForAdmission(informers.NewSharedInformerFactory(nil, 0), nil)
	if err != nil {
		panic(fmt.Sprintf("evaluators of quotas: %v", err)) // it reads no input
	}
	return generic.NewRegistry(configuration.Evaluators())
})
