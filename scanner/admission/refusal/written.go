package refusal

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/autoscaling"

	"github.com/preadmit/preadmit/render/origin"
)

// moved are fields for which the API server uses another path: that of Kubernetes' internal types, or of
// another field that it sets from the written one.
var moved = []struct {
	kinds   []schema.GroupVersionKind // without a kind: all of the group
	field   *regexp.Regexp
	written string
	// instead is set if versions of the API have the field too: written only applies if an object has
	// it.
	instead bool
}{
	// Settings that all versions of a definition share are moved to the definition
	// (Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec).
	{[]schema.GroupVersionKind{definition}, regexp.MustCompile(`^spec\.validation\b`), "spec.versions[0].schema", false},
	{[]schema.GroupVersionKind{definition}, regexp.MustCompile(`^spec\.(subresources|additionalPrinterColumns|selectableFields)\b`), "spec.versions[0].$1", false},
	// Settings about sharing with the host, and between containers, are in the security context
	// (k8s.io/kubernetes/pkg/apis/core, PodSecurityContext).
	{withPods, regexp.MustCompile(`^(` + podSpec + `)securityContext\.(host(?:PID|IPC|Network|Users)|shareProcessNamespace)\b`), "$1$2", false},
	{withPods, regexp.MustCompile(`^(` + podSpec + `)securityContext\.HostPID\b`), "${1}hostPID", false},
	// serviceAccountName has a deprecated alias, and a Service may have several addresses
	// (Convert_v1_PodSpec_To_core_PodSpec, Convert_v1_ServiceSpec_To_core_ServiceSpec).
	{withPods, regexp.MustCompile(`^(` + podSpec + `)serviceAccountName$`), "${1}serviceAccount", true},
	{withPods, regexp.MustCompile(`^(` + podSpec + `)serviceAccount$`), "${1}serviceAccountName", true},
	{[]schema.GroupVersionKind{service}, regexp.MustCompile(`^spec\.clusterIPs(\[0\]|$)`), "spec.clusterIP", true},
	{[]schema.GroupVersionKind{service}, regexp.MustCompile(`^spec\.clusterIP$`), "spec.clusterIPs[0]", true},
	// k8s.io/kubernetes/pkg/api/persistentvolumeclaim, NormalizeDataSources
	{[]schema.GroupVersionKind{claim}, regexp.MustCompile(`^spec\.dataSourceRef\b`), "spec.dataSource", true},
	{[]schema.GroupVersionKind{claim}, regexp.MustCompile(`^spec\.dataSource\b`), "spec.dataSourceRef", true},
	// k8s.io/kubernetes/pkg/apis/core/validation, ValidatePersistentVolumeClaimSpec
	{withPods, regexp.MustCompile(`\bspec\.resources\[storage\]$`), "spec.resources.requests[storage]", false},
}

const podSpec = `spec\.(?:(?:jobTemplate\.spec\.)?template\.spec\.)?`

var (
	definition = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	autoscaler = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}
	scaling    = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
	claim      = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	service    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	secret     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	withPods   = []schema.GroupVersionKind{{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"}}
)

// Written returns the field in an object that an error is about, if validation uses another path for it.
func Written(c metav1.StatusCause, object map[string]any) string {
	c.Field = fieldOf(c)
	c.Field = claimsOf(object).written(c, object)
	c.Field = Moved(c.Field, object)
	c.Field = spelled(c.Field, object)
	if field, ok := itemOf(c, object); ok {
		return field
	}
	if field, ok := keyOf(c, object); ok {
		return field
	}
	return c.Field
}

// Moved returns the path in an object of a field for which the API server uses another path; other
// fields are returned unchanged.
func Moved(field string, object map[string]any) string {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	for _, m := range moved {
		if !slices.Contains(m.kinds, gvk) && !slices.Contains(m.kinds, schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version}) || !m.field.MatchString(field) {
			continue
		}
		if to := m.field.ReplaceAllString(field, m.written); !m.instead || has(object, to) && !has(object, field) {
			return to
		}
	}
	switch {
	case gvk == autoscaler:
		return metricOf(field, object)
	case gvk == scaling && field == utilization:
		return targetOf(object)
	case gvk == secret && inData.MatchString(field) && has(object, "stringData"+strings.TrimPrefix(field, "data")):
		return "stringData" + strings.TrimPrefix(field, "data")
	}
	return field
}

var inData = regexp.MustCompile(`^data\b`)

func has(object map[string]any, field string) bool {
	_, ok := origin.Field(object, field)
	return ok
}

// metric matches the path of a metric of an autoscaler.
var metric = regexp.MustCompile(`^spec\.metrics\[(\d+)\]`)

// metricOf returns the field with a metric, or the behavior, of an autoscaler of version v1: annotations,
// except for the CPU utilization, which is the last metric
// (Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler).
func metricOf(field string, object map[string]any) string {
	var others []json.RawMessage
	behavior, metrics := "metadata.annotations["+autoscaling.BehaviorSpecsAnnotation+"]", "metadata.annotations["+autoscaling.MetricSpecsAnnotation+"]"
	m := metric.FindStringSubmatch(field)
	switch {
	case strings.HasPrefix(field, "spec.behavior") && has(object, behavior):
		return behavior
	case m == nil:
		return field
	}
	text, _, _ := unstructured.NestedString(object, "metadata", "annotations", autoscaling.MetricSpecsAnnotation)
	if number, err := strconv.Atoi(m[1]); err == nil && json.Unmarshal([]byte(text), &others) == nil && number < len(others) {
		return metrics
	}
	return utilization
}

// utilization is the CPU utilization target of an autoscaler of version v1.
const utilization = "spec.targetCPUUtilizationPercentage"

// targetOf returns the field with that target in an autoscaler of version v2
// (Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler).
func targetOf(object map[string]any) string {
	metrics, _, _ := unstructured.NestedSlice(object, "spec", "metrics")
	for i := range metrics {
		if at := "spec.metrics[" + strconv.Itoa(i) + "].resource"; has(object, at+".target.averageUtilization") {
			if name, _ := origin.Field(object, at+".name"); name == "cpu" {
				return at + ".target.averageUtilization"
			}
		}
	}
	return utilization
}
