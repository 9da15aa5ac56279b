package admission

import (
	"fmt"
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/deprecation"
)

// builtinDeprecation is the warning the server sends with every answer about a
// deprecated version of a built-in kind; empty for others.
func builtinDeprecation(kind schema.GroupVersionKind) string {
	obj, err := codecOf(kind.Group).scheme.New(kind)
	if err != nil {
		return ""
	}
	obj.GetObjectKind().SetGroupVersionKind(kind)
	v := version.MustParseSemantic(KubernetesVersion)
	if !deprecation.IsDeprecated(obj, int(v.Major()), int(v.Minor())) {
		return ""
	}
	return deprecation.WarningMessage(obj)
}

// deprecation is the same for a version of a custom kind: the definition's text,
// or the server's (k8s.io/apiextensions-apiserver/pkg/apiserver, defaultDeprecationWarning).
func (d *definition) deprecation(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	spec := &d.crd.Spec
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	var newer []string
	for _, other := range spec.Versions {
		if other.Served && !other.Deprecated && apimachineryversion.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			newer = append(newer, other.Name)
		}
	}
	if len(newer) == 0 {
		return text
	}
	sort.Slice(newer, func(i, j int) bool {
		return apimachineryversion.CompareKubeAwareVersionStrings(newer[i], newer[j]) > 0
	})
	return text + fmt.Sprintf("; use %s/%s %s", spec.Group, newer[0], spec.Names.Kind)
}
