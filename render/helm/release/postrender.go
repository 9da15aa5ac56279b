package release

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/kustomize/api/builtins"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render/fluxtypes"
)

// PostRenderer is a `postRenderers[].kustomize`.
type PostRenderer struct {
	Patches []fluxtypes.Patch `json:"patches"`
	Images  []fluxtypes.Image `json:"images"`
}

// Metadata are labels and annotations for all objects.
type Metadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

const (
	// maxDocuments and maxPatches limit kustomize's work: its time grows with the square of the number of
	// documents.
	maxDocuments = 5_000
	maxPatches   = 50_000
)

// run applies the post-renderer to a stream of documents.
func (p PostRenderer) run(stream string) (string, error) {
	kustomization := types.Kustomization{Resources: []string{"helm-output.yaml"}}
	kustomization.APIVersion, kustomization.Kind = types.KustomizationVersion, types.KustomizationKind
	for _, patch := range p.Patches {
		kustomization.Patches = append(kustomization.Patches, types.Patch{Patch: patch.Patch, Target: patch.Target.Kustomize()})
	}
	for _, image := range p.Images {
		kustomization.Images = append(kustomization.Images, image.Kustomize())
	}
	text, err := json.Marshal(kustomization)
	if err != nil {
		return "", err
	}
	files := filesys.MakeFsInMemory()
	for name, data := range map[string][]byte{"helm-output.yaml": []byte(stream), "kustomization.yaml": text} {
		if err := files.WriteFile(name, data); err != nil {
			return "", err
		}
	}
	made, err := krusty.MakeKustomizer(&krusty.Options{LoadRestrictions: types.LoadRestrictionsRootOnly, PluginConfig: types.DisabledPluginConfig()}).Run(files, ".")
	if err != nil {
		return "", err
	}
	yaml, err := made.AsYaml()
	return string(yaml), err
}

// postRender applies post-renderers and metadata to a stream of documents.
func (r *Release) postRender(stream string, documents int) (resmap.ResMap, error) {
	for i, p := range r.PostRenderers {
		if n := len(p.Patches) + len(p.Images); documents > maxDocuments || n*documents > maxPatches {
			return nil, &Problem{Message: fmt.Sprintf("postRenderers[%d] has %d patches and images for %d objects, more than the limit", i, n, documents), Refused: true}
		}
		made, err := p.run(stream)
		if err != nil {
			return nil, &Problem{Message: fmt.Sprintf("postRenderers[%d] cannot be applied: %v", i, err)}
		}
		stream = made
	}
	made, err := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes([]byte(stream))
	if err != nil {
		return nil, &Problem{Message: fmt.Sprintf("the objects cannot be read: %v", err)}
	}
	for _, labels := range []map[string]string{r.CommonMetadata.Labels, r.Labels} {
		if err := setLabels(made, labels); err != nil {
			return nil, err
		}
	}
	if len(r.CommonMetadata.Annotations) == 0 {
		return made, nil
	}
	return made, (&builtins.AnnotationsTransformerPlugin{
		Annotations: r.CommonMetadata.Annotations,
		FieldSpecs:  []types.FieldSpec{{Path: "metadata/annotations", CreateIfNotPresent: true}},
	}).Transform(made)
}

func setLabels(m resmap.ResMap, labels map[string]string) error {
	if len(labels) == 0 {
		return nil
	}
	return (&builtins.LabelTransformerPlugin{
		Labels:     labels,
		FieldSpecs: []types.FieldSpec{{Path: "metadata/labels", CreateIfNotPresent: true}},
	}).Transform(m)
}

// takeMark removes the annotation of a node, and returns the template and document in it.
func takeMark(node *kyaml.RNode) (name string, document int, err error) {
	name, document = unmark(node.GetAnnotations()[fileAnnotation])
	return name, document, node.PipeE(kyaml.ClearAnnotation(fileAnnotation))
}
