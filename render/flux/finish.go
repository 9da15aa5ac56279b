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

// finish makes of what kustomize built what the controller applies.
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

// check returns what the controller refuses about an object.
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

// decryptionDisabled reports whether an annotation has the controller apply a Secret
// encrypted as it is.
func decryptionDisabled(metadata map[string]any) bool {
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations["kustomize.toolkit.fluxcd.io/decrypt"] == "Disabled" || annotations["kustomize.toolkit.fluxcd.io/decrypt"] == "disabled"
}

// isKustomizeConfig reports whether an object is a file of kustomize's, which is not applied.
func isKustomizeConfig(content map[string]any) bool {
	version, _ := content["apiVersion"].(string)
	return content["kind"] == "Kustomization" && strings.HasPrefix(version, "kustomize.config.k8s.io/")
}

// identity is what kustomize knows an object by.
type identity struct{ version, kind, namespace, name string }

func identityOf(content map[string]any) identity {
	o := unstructured.Unstructured{Object: content}
	return identity{o.GetAPIVersion(), o.GetKind(), cmp.Or(o.GetNamespace(), "default"), o.GetName()}
}

// renaming is what substitution makes of the identity of an object of the build; replaced is set where
// its variables are replaced.
type renaming struct {
	index    int
	was, is  identity
	replaced bool
}

// unique returns the error of two objects that are one after substitution. The controller finds that out
// object by object, among those before it as they are then and those behind it as they were.
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

// isObject reports whether substitution left an object what makes it one. The controller leaves others out
// and says nothing.
func isObject(content map[string]any) bool {
	o := unstructured.Unstructured{Object: content}
	return o.GetName() != "" && o.GetKind() != "" && o.GetAPIVersion() != ""
}

// warnings are about the objects that substitution made none of.
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

// label sets the labels by which the controller knows its objects, and the common metadata.
func (u *unit) label(o *render.Object, content map[string]any) *render.Object {
	unknown := u.metadata().SetOn(content, o.Unknown)
	return &render.Object{JSON: tree.Encode(content), Index: o.Index, Unknown: unknown}
}

// metadata are the labels and annotations that the controller sets.
func (u *unit) metadata() Metadata {
	m := Metadata{OwnerGroup: Group, Name: u.object.Metadata.Name, Namespace: u.object.Metadata.Namespace}
	if common := u.object.Spec.CommonMetadata; common != nil {
		m.Labels, m.Annotations = common.Labels, common.Annotations
	}
	return m
}
