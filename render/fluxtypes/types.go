package fluxtypes

import (
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// Patch is a strategic merge or JSON 6902 patch. Unlike kustomize's it cannot name a file.
type Patch struct {
	Patch  string    `json:"patch"`
	Target *Selector `json:"target"`
}

// Text returns the patch as kustomize reads it from a kustomization: without surrounding white space. Empty lines
// before it are kept, so that line numbers are correct. It is empty if there is no patch.
func (p Patch) Text() string {
	text := strings.TrimSpace(p.Patch)
	if text == "" {
		return ""
	}
	before, _, _ := strings.Cut(p.Patch, text)
	return strings.Repeat("\n", strings.Count(before, "\n")) + text
}

// Selector selects the objects that a patch applies to.
type Selector struct {
	Group              string `json:"group"`
	Version            string `json:"version"`
	Kind               string `json:"kind"`
	Namespace          string `json:"namespace"`
	Name               string `json:"name"`
	AnnotationSelector string `json:"annotationSelector"`
	LabelSelector      string `json:"labelSelector"`
}

// Kustomize returns the selector in kustomize's type; nil for nil.
func (s *Selector) Kustomize() *types.Selector {
	if s == nil {
		return nil
	}
	return &types.Selector{
		ResId: resid.ResId{
			Gvk:  resid.Gvk{Group: s.Group, Version: s.Version, Kind: s.Kind},
			Name: s.Name, Namespace: s.Namespace,
		},
		AnnotationSelector: s.AnnotationSelector, LabelSelector: s.LabelSelector,
	}
}

// Image replaces the name, tag or digest of an image.
type Image struct {
	Name    string `json:"name"`
	NewName string `json:"newName"`
	NewTag  string `json:"newTag"`
	Digest  string `json:"digest"`
}

// Kustomize returns the image in kustomize's type.
func (i Image) Kustomize() types.Image {
	return types.Image{Name: i.Name, NewName: i.NewName, NewTag: i.NewTag, Digest: i.Digest}
}
