package custom

import (
	"fmt"
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
)

// Deprecation returns the warning about a deprecated version of a custom kind: the definition's text,
// or the server's (k8s.io/apiextensions-apiserver/pkg/apiserver, defaultDeprecationWarning).
func (d *Definition) Deprecation(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	spec := &d.CRD.Spec
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
