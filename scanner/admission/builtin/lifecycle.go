package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
)

// hasVersion reports whether the API server of the imitated version has a kind: it was introduced and
// not yet removed (k8s.io/apiserver/pkg/server, ResourceExpirationEvaluator).
func hasVersion(kind schema.GroupVersionKind) bool {
	return introducedIn(kind) == "" && removedIn(kind) == ""
}

// introduced are the releases that introduced versions whose types do not state it
// (kubernetes/kubernetes#136976).
var introduced = map[schema.GroupVersion]string{
	{Group: "scheduling.k8s.io", Version: "v1alpha2"}: "v1.36",
}

// introducedIn returns the version of Kubernetes that introduced a kind, if it is later than the
// imitated one, else "".
func introducedIn(kind schema.GroupVersionKind) string {
	at := introduced[kind.GroupVersion()]
	if stated, ok := typeOf(kind).(interface{ APILifecycleIntroduced() (major, minor int) }); ok {
		major, minor := stated.APILifecycleIntroduced()
		at = fmt.Sprintf("v%d.%d", major, minor)
	}
	if at == "" || version.MustParseSemantic(KubernetesVersion()).AtLeast(version.MustParseGeneric(at)) {
		return ""
	}
	return at
}

// typeOf returns an object of a kind; nil if Kubernetes' modules have no type of it.
func typeOf(kind schema.GroupVersionKind) runtime.Object {
	obj, err := CodecOf(kind.Group).Scheme.New(kind)
	if err != nil {
		return nil
	}
	return obj
}
