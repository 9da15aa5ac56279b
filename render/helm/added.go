package helm

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
)

// added returns the place that decides a label, annotation or namespace that Helm or helm-controller adds.
func (o *traced) added(field string) (origin.Place, bool) {
	of := ""
	switch {
	case strings.HasPrefix(field, "metadata.labels") && strings.Contains(field, "helm.toolkit.fluxcd.io/namespace"):
		of = "metadata.namespace"
	case strings.HasPrefix(field, "metadata.labels") && strings.Contains(field, "helm.toolkit.fluxcd.io/name"):
		of = "metadata.name"
	case strings.HasPrefix(field, "metadata.annotations") && strings.Contains(field, "meta.helm.sh/release-namespace"), field == "metadata.namespace" && o.namespaceAdded():
		of = "metadata.namespace"
		if o.release.Spec.TargetNamespace != "" {
			of = "spec.targetNamespace"
		}
	case strings.HasPrefix(field, "metadata.annotations") && strings.Contains(field, "meta.helm.sh/release-name"):
		of = "metadata.name"
		if o.release.Spec.ReleaseName != "" {
			of = "spec.releaseName"
		}
	default:
		if of = o.common(field); of == "" {
			return origin.Place{}, false
		}
	}
	return origin.Place{Position: o.written(of), Evidence: origin.Inferred}, true
}

// common returns the field of the release that sets a label or annotation on all of its objects, overriding
// the chart; "" if there is none.
func (o *traced) common(field string) string {
	of := o.release.Spec.CommonMetadata
	for key := range of.Labels {
		if isKey(field, "metadata.labels", key) {
			return origin.AppendKey("spec.commonMetadata.labels", key)
		}
	}
	for key := range of.Annotations {
		if isKey(field, "metadata.annotations", key) {
			return origin.AppendKey("spec.commonMetadata.annotations", key)
		}
	}
	return ""
}

// isKey reports whether a field is a key of a map of metadata.
func isKey(field, of, key string) bool {
	return field == of+"."+key || slices.Equal(origin.ParsePath(field), origin.ParsePath(origin.AppendKey(of, key)))
}

// namespaceAdded reports whether the chart's object has no namespace.
func (o *traced) namespaceAdded() bool {
	_, found := origin.Field(o.rendered(), "metadata.namespace")
	return !found
}
