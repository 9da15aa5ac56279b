package apply

import (
	"encoding/base64"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/transport"
)

// Normalized returns a manifest as Flux sends it (github.com/fluxcd/pkg/ssa/normalize): for kinds
// that its client knows, only the fields that the client knows, with the default protocol of ports,
// and Secrets with data in place of stringData. The status is removed except from
// CustomResourceDefinitions, whose invalid certificates are removed. The content itself is not
// modified.
func Normalized(content map[string]any) map[string]any {
	u := &unstructured.Unstructured{Object: content}
	kind := u.GroupVersionKind()
	if isUnchanged(kind) {
		return runtime.DeepCopyJSON(content)
	}
	out := typed(u)
	if out == nil {
		out = runtime.DeepCopyJSON(content)
	}
	_ = unstructured.SetNestedField(out, nil, "metadata", "creationTimestamp")
	if kind.Kind != "CustomResourceDefinition" {
		delete(out, "status")
	} else if kind.Group == "apiextensions.k8s.io" && !keepsCABundle(out) {
		unstructured.RemoveNestedField(out, caBundle...)
	}
	return out
}

// caBundle is the path of the certificates of a CustomResourceDefinition's conversion webhook.
var caBundle = []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}

// keepsCABundle reports whether Flux keeps the certificates of a CustomResourceDefinition: it removes those
// that the server would refuse (github.com/fluxcd/pkg/ssa/utils, RemoveCABundleFromCRD).
func keepsCABundle(definition map[string]any) bool {
	text, _, err := unstructured.NestedString(definition, caBundle...)
	if err != nil || text == "" {
		return true
	}
	certificates, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(certificates) == 0 {
		return err == nil
	}
	_, err = transport.TLSConfigFor(&transport.Config{TLS: transport.TLSConfig{CAData: certificates}})
	return err == nil
}

// isUnchanged reports whether Flux sends manifests of a kind unchanged.
func isUnchanged(kind schema.GroupVersionKind) bool {
	return kind.Group == "rbac.authorization.k8s.io" && kind.Version == "v1" && (kind.Kind == "Role" || kind.Kind == "ClusterRole")
}

// Decodes reports whether the client of Flux knows a kind, so that it only sends the fields that it decodes.
func Decodes(kind schema.GroupVersionKind) bool { return scheme.Scheme.Recognizes(kind) }

// typed returns a manifest as the client of Flux decodes it; nil if it cannot.
func typed(u *unstructured.Unstructured) map[string]any {
	obj, err := scheme.Scheme.New(u.GroupVersionKind())
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj) != nil {
		return nil
	}
	if secret, ok := obj.(*corev1.Secret); ok && len(secret.StringData) > 0 {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		for key, value := range secret.StringData {
			secret.Data[key] = []byte(value)
		}
		secret.StringData = nil
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil
	}
	return withProtocols(u.GetKind(), out)
}

// portsOf has, by kind, the paths of ports whose protocol Flux sets. An empty name matches every item
// of a list.
var portsOf = func() map[string][][]string {
	pod := []string{"containers", "", "ports", ""}
	template := [][]string{append([]string{"spec", "template", "spec"}, pod...)}
	return map[string][][]string{
		"Pod":        {append([]string{"spec"}, pod...)},
		"Deployment": template, "StatefulSet": template, "DaemonSet": template, "ReplicaSet": template, "Job": template,
		"CronJob": {append([]string{"spec", "jobTemplate", "spec", "template", "spec"}, pod...)},
		"Service": {{"spec", "ports", ""}},
	}
}()

// withProtocols returns an object with the protocols of its ports set. It shares the rest with content.
func withProtocols(kind string, content map[string]any) map[string]any {
	for _, path := range portsOf[kind] {
		content, _ = withProtocol(content, path).(map[string]any)
	}
	return content
}

func withProtocol(value any, path []string) any {
	switch v := value.(type) {
	case map[string]any:
		if len(path) > 0 {
			if _, ok := v[path[0]]; ok {
				v = maps.Clone(v)
				v[path[0]] = withProtocol(v[path[0]], path[1:])
			}
		} else if v["protocol"] == nil || v["protocol"] == "" {
			v = maps.Clone(v)
			v["protocol"] = string(corev1.ProtocolTCP)
		}
		return v
	case []any:
		if len(path) > 0 {
			v = slices.Clone(v)
			for i, item := range v {
				v[i] = withProtocol(item, path[1:])
			}
		}
		return v
	}
	return value
}
