// Package admission is an API server without a cluster: it knows the built-in
// kinds and those of CustomResourceDefinitions, and takes an object through what
// a kube-apiserver does to it before validating admission runs - strict decoding,
// defaulting, conversion, pruning, the built-in mutating plugins, the registry's
// own preparation and validation. All of it is Kubernetes' own code; this package
// assembles it.
package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is an object of a cluster's state.
type Object struct {
	// Content is the object as decoded from JSON (int64, float64, string, bool,
	// nil, map[string]any, []any). It is never modified.
	Content map[string]any
	// Tag is the caller's: where the object came from. Not interpreted here.
	Tag any
}

// Key identifies an object in a cluster. Objects of two versions of one group
// are the same object.
type Key struct {
	Group, Kind, Namespace, Name string
}

// GroupVersionKind is the object's apiVersion and kind.
func (o *Object) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.str("apiVersion"), o.str("kind"))
}

// Name is metadata.name.
func (o *Object) Name() string { return o.meta("name") }

// GenerateName is metadata.generateName.
func (o *Object) GenerateName() string { return o.meta("generateName") }

// Namespace is metadata.namespace as written; see Cluster.Key for the namespace
// the object will live in.
func (o *Object) Namespace() string { return o.meta("namespace") }

// Labels are metadata.labels; values that are not strings are left out.
func (o *Object) Labels() map[string]string {
	m, _ := o.metadata()["labels"].(map[string]any)
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

func (o *Object) str(field string) string { s, _ := o.Content[field].(string); return s }

func (o *Object) metadata() map[string]any {
	m, _ := o.Content["metadata"].(map[string]any)
	return m
}

func (o *Object) meta(field string) string { s, _ := o.metadata()[field].(string); return s }

func (k Key) String() string {
	parts := []string{k.Kind}
	if k.Group != "" {
		parts[0] += "." + k.Group
	}
	if k.Namespace != "" {
		parts = append(parts, k.Namespace)
	}
	return strings.Join(append(parts, k.Name), "/")
}
