package builtin

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/endpoints/deprecation"
)

// Deprecation returns the warning that the server sends with every response about a deprecated
// version of a built-in kind; "" for others.
func Deprecation(kind schema.GroupVersionKind) string {
	obj, err := CodecOf(kind.Group).Scheme.New(kind)
	if err != nil {
		return ""
	}
	obj.GetObjectKind().SetGroupVersionKind(kind)
	v := version.MustParseSemantic(KubernetesVersion())
	if !deprecation.IsDeprecated(obj, int(v.Major()), int(v.Minor())) {
		return ""
	}
	return deprecation.WarningMessage(obj)
}
