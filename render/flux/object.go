package flux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// Implied returns the Kustomization that `flux bootstrap` or flux-operator creates for a directory of a source.
func Implied(dir string, source render.ObjectRef) json.RawMessage {
	return implied(dir, source, map[string]any{})
}

// Assumed returns the Kustomization that is assumed to apply a directory of a source if none is known. It decrypts
// Secrets, as the real one may do; otherwise it would fail for encrypted ones. It replaces variables if substitutes is
// set.
func Assumed(dir string, source render.ObjectRef, substitutes bool) json.RawMessage {
	spec := map[string]any{"decryption": map[string]any{"provider": "sops"}}
	if substitutes {
		spec["postBuild"] = map[string]any{}
	}
	return implied(dir, source, spec)
}

func implied(dir string, source render.ObjectRef, spec map[string]any) json.RawMessage {
	spec["interval"], spec["path"], spec["prune"] = "10m0s", "./"+dir, true
	spec["sourceRef"] = map[string]any{"kind": source.Kind, "name": source.Name}
	object, _ := json.Marshal(map[string]any{ // strings and booleans
		"apiVersion": Group + "/v1", "kind": Kind.Kind,
		"metadata": map[string]any{"name": source.Name, "namespace": source.Namespace},
		"spec":     spec,
	})
	return object
}

// WithoutPostBuild returns a Kustomization without substitution.
func WithoutPostBuild(object json.RawMessage) json.RawMessage {
	var o map[string]any
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	if decoder.Decode(&o) != nil {
		return object
	}
	if spec, ok := o["spec"].(map[string]any); ok {
		delete(spec, "postBuild")
	}
	data, err := json.Marshal(o)
	if err != nil {
		return object
	}
	return data
}

// Decides reports whether a field of a Kustomization influences what its unit applies. It is false for labels, for
// values of variables, and for fields about when and how long the controller works on it.
func Decides(field []string) bool {
	switch {
	case len(field) == 3 && field[0] == "metadata":
		return field[1] != "labels" && field[1] != "annotations" || strings.HasPrefix(field[2], Group)
	case len(field) < 2 || field[0] != "spec":
		return len(field) == 0 || field[0] == "spec" || field[0] == "metadata"
	}
	switch field[1] {
	case "interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs":
		return false
	case "postBuild":
		return len(field) < 4 || field[2] != "substitute"
	}
	return true
}

// DecidesRelease reports whether an unknown field of a HelmRelease decides what is installed, or where, so that the
// release cannot be judged without it.
func DecidesRelease(unknown render.Unknown) bool {
	field := unknown.Path
	switch {
	case len(field) == 4 && field[1] == "valuesFrom" && field[3] == "name" && unknown.Reason == hashReason:
		return false // the Secret's name is written in the same way
	case len(field) == 0:
		return true
	case field[0] == "metadata":
		return len(field) == 1 || field[1] == "name" || field[1] == "namespace"
	case field[0] != "spec":
		return false
	case len(field) == 1:
		return true
	}
	return !slices.Contains([]string{"values", "postRenderers", "commonMetadata", "driftDetection", "dependsOn", "interval", "timeout", "maxHistory"}, field[1])
}

// UnknownVariables returns the reasons why variables in a unit's own object are not known, by name.
func UnknownVariables(o *render.Object) map[string]string {
	reasons := map[string]string{}
	for _, u := range o.Unknown {
		if len(u.Path) == 4 && strings.Join(u.Path[:3], ".") == "spec.postBuild.substitute" {
			reasons[u.Path[3]] = u.Reason
		}
	}
	return reasons
}

// Cluster returns the cluster that a unit applies to. own is the cluster of its object, namespace the namespace.
func (c *KubeConfig) Cluster(own, namespace string) string {
	switch {
	case c == nil:
		return own
	case c.SecretRef != nil:
		return fmt.Sprintf("%s, kubeconfig %s/%s", own, namespace, c.SecretRef.Name)
	case c.ConfigMapRef != nil:
		return fmt.Sprintf("%s, kubeconfig %s/%s", own, namespace, c.ConfigMapRef.Name)
	}
	return own + ", kubeconfig"
}

// Excluded returns the field that makes kustomize-controller ignore an object; empty if there is none.
func Excluded(object []byte) (field string) {
	var o struct {
		Metadata map[string]any `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return ""
	}
	for _, excluding := range [][2]string{{Group + "/reconcile", "disabled"}, {Group + "/ssa", "Ignore"}} {
		for _, of := range []string{"annotations", "labels"} {
			values, _ := o.Metadata[of].(map[string]any)
			if said, _ := values[excluding[0]].(string); strings.EqualFold(said, excluding[1]) {
				return origin.AppendKey("metadata."+of, excluding[0])
			}
		}
	}
	return ""
}
