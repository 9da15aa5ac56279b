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

// introducedIn returns the version of Kubernetes that introduced a kind, if it is later than the
// imitated one, else "".
func introducedIn(kind schema.GroupVersionKind) string {
	introduced, ok := typeOf(kind).(interface{ APILifecycleIntroduced() (major, minor int) })
	if !ok {
		return ""
	}
	major, minor := introduced.APILifecycleIntroduced()
	at := fmt.Sprintf("v%d.%d", major, minor)
	if version.MustParseSemantic(KubernetesVersion()).AtLeast(version.MustParseGeneric(at)) {
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
