package flux

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// finish does what the controller does with the objects that kustomize built.
func (u *unit) finish(built []*render.Object) ([]*render.Object, *render.Problem) {
	replace := u.substituter()
	objects := make([]*render.Object, 0, len(built))
	names := make([]renaming, 0, len(built))
	for _, o := range built {
		if u.object.Spec.Decryption != nil {
			o = o.Decrypted()
		}
		content := o.Content()
		if problem := u.check(o, content); problem != nil {
			return nil, problem
		}
		if replace != nil {
			was, replaced := identityOf(content), !isDisabled(content)
			var err error
			if o, content, err = replace.object(o, content); err != nil {
				return nil, u.failed(err)
			}
			names = append(names, renaming{o.Index, was, identityOf(content), replaced})
		}
		switch kind, _ := content["kind"].(string); {
		case kind == "":
			return nil, u.failed(&substitutionError{o.Index, "kind", errors.New("after substitution an object has no kind: Flux applies nothing of this build")})
		case isKustomizeConfig(content):
			continue
		case !isObject(content):
			u.leftOut = append(u.leftOut, o)
			continue
		}
		o = u.label(o, content)
		objects = append(objects, &render.Object{JSON: o.JSON, Index: len(objects), Unknown: o.Unknown})
	}
	if err := unique(names); err != nil {
		return nil, u.failed(err)
	}
	if u.object.Spec.Decryption != nil {
		markEncrypted(objects)
	}
	return objects, nil
}

// check returns the problem of an object that the controller refuses.
func (u *unit) check(o *render.Object, content map[string]any) *render.Problem {
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	version, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	switch {
	case name == "" || version == "" || kind == "":
		return u.failed(fmt.Errorf("failed to decode Kubernetes apiVersion, kind and name from an object of kind %q with the name %q: Flux applies no object without them", kind, name))
	case kind == "Secret" && o.IsEncrypted() && u.object.Spec.Decryption == nil && !decryptionDisabled(metadata):
		return u.failed(fmt.Errorf("Secret %s is SOPS encrypted, configuring decryption (spec.decryption) is required for this secret to be reconciled", name))
	}
	return nil
}

// decryptionDisabled reports whether an annotation makes the controller apply an encrypted Secret unchanged.
func decryptionDisabled(metadata map[string]any) bool {
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations["kustomize.toolkit.fluxcd.io/decrypt"] == "Disabled" || annotations["kustomize.toolkit.fluxcd.io/decrypt"] == "disabled"
}

// isKustomizeConfig reports whether an object is a kustomization file, which is not applied.
func isKustomizeConfig(content map[string]any) bool {
	version, _ := content["apiVersion"].(string)
	return content["kind"] == "Kustomization" && strings.HasPrefix(version, "kustomize.config.k8s.io/")
}

// identity is the identity of an object for kustomize.
type identity struct{ version, kind, namespace, name string }

func identityOf(content map[string]any) identity {
	o := unstructured.Unstructured{Object: content}
	return identity{o.GetAPIVersion(), o.GetKind(), cmp.Or(o.GetNamespace(), "default"), o.GetName()}
}

// renaming is the change of an object's identity by substitution. replaced is set if variables are replaced in the
// object.
type renaming struct {
	index    int
	was, is  identity
	replaced bool
}

// unique returns an error if two objects have the same identity after substitution. The controller checks this object
// by object: against earlier objects after, and later objects before substitution.
func unique(names []renaming) error {
	counts := map[identity]int{}
	for _, n := range names {
		counts[n.was]++
	}
	for _, n := range names {
		counts[n.was]--
		counts[n.is]++
		if n.replaced && n.is.name != "" && counts[n.is] > 1 {
			return &substitutionError{n.index, "metadata.name", fmt.Errorf("post build failed: after substitution there is more than one %s %s", n.is.kind, n.is.name)}
		}
	}
	return nil
}

// isObject reports whether an object has a name, a kind and an API version after substitution. The controller silently
// drops others.
func isObject(content map[string]any) bool {
	o := unstructured.Unstructured{Object: content}
	return o.GetName() != "" && o.GetKind() != "" && o.GetAPIVersion() != ""
}

// warnings returns a diagnostic about the dropped objects.
func (u *unit) warnings() []render.Diagnostic {
	if len(u.leftOut) == 0 {
		return nil
	}
	first := u.leftOut[0]
	field := "metadata.name"
	if version, _ := first.Content()["apiVersion"].(string); version == "" {
		field = "apiVersion"
	}
	why := fmt.Sprintf("after substitution %s is no text, or an empty one: Flux leaves this object out, and does not say so", field)
	if more := len(u.leftOut) - 1; more > 0 {
		why += fmt.Sprintf(" (and %d more)", more)
	}
	return []render.Diagnostic{{Severity: render.SeverityWarning, Position: u.builtFrom(first.Index, field), Message: why}}
}

// label sets the owner labels of the controller, and the common metadata.
func (u *unit) label(o *render.Object, content map[string]any) *render.Object {
	unknown := u.metadata().SetOn(content, o.Unknown)
	return &render.Object{JSON: tree.Encode(content), Index: o.Index, Unknown: unknown}
}

// metadata returns the labels and annotations that the controller sets.
func (u *unit) metadata() Metadata {
	m := Metadata{OwnerGroup: Group, Name: u.object.Metadata.Name, Namespace: u.object.Metadata.Namespace}
	if common := u.object.Spec.CommonMetadata; common != nil {
		m.Labels, m.Annotations = common.Labels, common.Annotations
	}
	return m
}
