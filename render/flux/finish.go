package flux

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// finish makes of what kustomize built what the controller applies.
func (u *unit) finish(built []*render.Object) ([]*render.Object, *render.Problem) {
	replace := u.substituter()
	objects := make([]*render.Object, 0, len(built))
	for _, o := range built {
		content := o.Content()
		if problem := u.check(o, content); problem != nil {
			return nil, problem
		}
		if replace != nil {
			var err error
			if o, content, err = replace.object(o, content); err != nil {
				return nil, u.failed(err)
			}
		}
		if isKustomizeConfig(content) {
			continue
		}
		o = u.label(o, content)
		objects = append(objects, &render.Object{JSON: o.JSON, Index: len(objects), Unknown: o.Unknown})
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

// decryptionDisabled reports whether an annotation tells the controller to apply a Secret
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
