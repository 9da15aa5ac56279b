package refusal

import (
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// moved are fields that validation knows by another path: that of Kubernetes' internal types.
var moved = []struct {
	kinds   []schema.GroupVersionKind // without a kind: all of the group
	field   *regexp.Regexp
	written string
}{
	// What all versions of a definition have alike is that of the definition
	// (Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec).
	{[]schema.GroupVersionKind{definition}, regexp.MustCompile(`^spec\.validation\b`), "spec.versions[0].schema"},
	{[]schema.GroupVersionKind{definition}, regexp.MustCompile(`^spec\.(subresources|additionalPrinterColumns|selectableFields)\b`), "spec.versions[0].$1"},
	// The processor time that an autoscaler keeps is the only metric of its first version.
	{[]schema.GroupVersionKind{autoscaler}, regexp.MustCompile(`^spec\.metrics\b.*`), "spec.targetCPUUtilizationPercentage"},
	// What containers share with the host, and with each other, is in their security context
	// (k8s.io/kubernetes/pkg/apis/core, PodSecurityContext).
	{withPods, regexp.MustCompile(`^(spec\.(?:(?:jobTemplate\.spec\.)?template\.spec\.)?)securityContext\.(host(?:PID|IPC|Network|Users)|shareProcessNamespace)\b`), "$1$2"},
}

var (
	definition = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	autoscaler = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}
	withPods   = []schema.GroupVersionKind{{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"}}
)

// Written returns the field in an object that an error is about, where validation knows it by another path.
func Written(c metav1.StatusCause, object map[string]any) string {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	for _, m := range moved {
		if slices.Contains(m.kinds, gvk) || slices.Contains(m.kinds, schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version}) {
			if m.field.MatchString(c.Field) {
				return m.field.ReplaceAllString(c.Field, m.written)
			}
		}
	}
	return claimsOf(object).written(c, object)
}
