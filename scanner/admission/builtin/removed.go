package builtin

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes/scheme"
)

// Unserved describes why a version or kind of a built-in group is not served and what to use instead,
// as far as it is known, like "removed in v1.16, use apps/v1 Deployment". It returns "" if neither is
// known.
func Unserved(kind schema.GroupVersionKind) string {
	var parts []string
	if at := removedIn(kind); at != "" {
		parts = append(parts, "removed in "+at)
	}
	if at := introducedIn(kind); at != "" {
		parts = append(parts, "introduced in "+at)
	}
	if flags, ok := optional()[kind]; ok && len(parts) == 0 {
		parts = append(parts, "served with "+flags+" only")
	}
	switch use, served := replacement(kind); {
	case served:
		parts = append(parts, fmt.Sprintf("use %s %s", use.GroupVersion(), use.Kind))
	case !use.Empty():
		if at := introducedIn(use); at != "" {
			parts = append(parts, fmt.Sprintf("%s is introduced in %s", use.GroupVersion(), at))
		}
	}
	return strings.Join(parts, ", ")
}

// removedTypes are versions whose types Kubernetes' modules no longer have, and the releases that
// removed them (https://kubernetes.io/docs/reference/using-api/deprecation-guide).
var removedTypes = map[schema.GroupVersionKind]string{
	{Group: "autoscaling", Version: "v2beta1", Kind: "HorizontalPodAutoscaler"}: "v1.25",
	{Group: "autoscaling", Version: "v2beta2", Kind: "HorizontalPodAutoscaler"}: "v1.26",
	{Group: "extensions", Version: "v1beta1", Kind: "PodSecurityPolicy"}:        "v1.16",
	{Group: "policy", Version: "v1beta1", Kind: "PodSecurityPolicy"}:            "v1.25",
}

// removedIn returns the version of Kubernetes that removed a kind; "" if none did, or it is not
// known.
func removedIn(kind schema.GroupVersionKind) string {
	obj, err := scheme.Scheme.New(kind)
	if err != nil { // kinds of apiextensions are not in the client's scheme
		obj, err = CodecOf(kind.Group).Scheme.New(kind)
	}
	if err != nil {
		return removedTypes[kind]
	}
	removed, ok := obj.(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return ""
	}
	major, minor := removed.APILifecycleRemoved()
	at := fmt.Sprintf("v%d.%d", major, minor)
	if !version.MustParseSemantic(KubernetesVersion()).AtLeast(version.MustParseGeneric(at)) {
		return ""
	}
	return at
}

// replacement returns the served version of a kind, or the kind that replaced it, and whether that is
// served.
func replacement(kind schema.GroupVersionKind) (use schema.GroupVersionKind, served bool) {
	if use, ok := preferred(kind.GroupKind()); ok {
		return use, true
	}
	obj, err := scheme.Scheme.New(kind)
	if err != nil {
		return schema.GroupVersionKind{}, false
	}
	replaced, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	})
	if !ok {
		return schema.GroupVersionKind{}, false
	}
	use = replaced.APILifecycleReplacement()
	if newest, ok := preferred(use.GroupKind()); ok {
		return newest, true
	}
	return use, false
}

// preferred returns a kind in the served version of highest priority.
func preferred(kind schema.GroupKind) (schema.GroupVersionKind, bool) {
	for _, gv := range CodecOf(kind.Group).Scheme.PrioritizedVersionsForGroup(kind.Group) {
		if r, ok := Of(gv.WithKind(kind.Kind)); ok {
			return r.Kind, true
		}
	}
	return schema.GroupVersionKind{}, false
}
