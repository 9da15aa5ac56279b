package helm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// added is where a label or annotation comes from that Helm and its controller add.
func (o *traced) added(field string) (origin.Place, bool) {
	of := ""
	switch {
	case strings.HasPrefix(field, "metadata.labels") && strings.Contains(field, "helm.toolkit.fluxcd.io/namespace"):
		of = "metadata.namespace"
	case strings.HasPrefix(field, "metadata.labels") && strings.Contains(field, "helm.toolkit.fluxcd.io/name"):
		of = "metadata.name"
	case strings.HasPrefix(field, "metadata.annotations") && strings.Contains(field, "meta.helm.sh/release-namespace"), field == "metadata.namespace" && o.namespaceAdded():
		of = "metadata.namespace"
		if o.release.Spec.TargetNamespace != "" {
			of = "spec.targetNamespace"
		}
	case strings.HasPrefix(field, "metadata.annotations") && strings.Contains(field, "meta.helm.sh/release-name"):
		of = "metadata.name"
		if o.release.Spec.ReleaseName != "" {
			of = "spec.releaseName"
		}
	default:
		if of = o.common(field); of == "" {
			return origin.Place{}, false
		}
	}
	return origin.Place{Position: o.written(of), Evidence: origin.Inferred}, true
}

// common returns the field of the release that sets a label or annotation on all of its objects, whatever the
// chart says; empty for none.
func (o *traced) common(field string) string {
	of := o.release.Spec.CommonMetadata
	for key := range of.Labels {
		if isKey(field, "metadata.labels", key) {
			return origin.AppendKey("spec.commonMetadata.labels", key)
		}
	}
	for key := range of.Annotations {
		if isKey(field, "metadata.annotations", key) {
			return origin.AppendKey("spec.commonMetadata.annotations", key)
		}
	}
	return ""
}

// isKey reports whether a field is a key of a map of metadata.
func isKey(field, of, key string) bool {
	return field == of+"."+key || slices.Equal(origin.ParsePath(field), origin.ParsePath(origin.AppendKey(of, key)))
}

// namespaceAdded reports whether the object says no namespace itself.
func (o *traced) namespaceAdded() bool {
	_, found := origin.Field(o.rendered(), "metadata.namespace")
	return !found
}

// patched is where a field comes from that a post-renderer makes what it is.
func (o *traced) patched(field string, value any, found bool) (origin.Place, bool) {
	if len(o.release.Spec.PostRenderers) == 0 {
		return origin.Place{}, false
	}
	plain := o.withoutPostRenderers()
	if len(plain) == 0 || !o.differs(plain, field, value) && found {
		return origin.Place{}, false
	}
	steps := origin.ParsePath(field)
	if len(steps) == 0 {
		return origin.Place{}, false
	}
	key := steps[len(steps)-1].Key
	for i, p := range o.release.Spec.PostRenderers {
		if p.Kustomize == nil {
			continue
		}
		for j, image := range p.Kustomize.Images {
			at := fmt.Sprintf("spec.postRenderers[%d].kustomize.images[%d]", i, j)
			switch text := locate.Text(value); {
			case key != "image":
			case image.NewTag != "" && strings.HasSuffix(text, ":"+image.NewTag):
				return origin.Place{Position: o.written(at + ".newTag"), Evidence: origin.Inferred}, true
			case image.Digest != "" && strings.HasSuffix(text, image.Digest):
				return origin.Place{Position: o.written(at + ".digest"), Evidence: origin.Inferred}, true
			case image.NewName != "" && strings.HasPrefix(text, image.NewName):
				return origin.Place{Position: o.written(at + ".newName"), Evidence: origin.Inferred}, true
			}
		}
		for j, patch := range p.Kustomize.Patches {
			lines := strings.Split(patch.Patch, "\n")
			for n, line := range lines {
				if !strings.Contains(line, key) {
					continue
				}
				for below := n; below < min(n+4, len(lines)); below++ { // `value:` of an operation
					if text := locate.Text(value); locate.IsScalar(value) && text != "" && strings.HasSuffix(strings.TrimRight(lines[below], " '\"}"), text) {
						n = below
						break
					}
				}
				at := o.written(fmt.Sprintf("spec.postRenderers[%d].kustomize.patches[%d].patch", i, j))
				return origin.Place{Position: o.below(at, n), Evidence: origin.Inferred}, true
			}
		}
	}
	return origin.Place{Position: o.written("spec.postRenderers"), Evidence: origin.Inferred}, found
}

// differs reports whether a field has another value among other objects, of an object that is there.
func (o *traced) differs(objects []*render.Object, field string, value any) bool {
	was := o.result.Objects[o.index]
	kind, name := was.KindAndName()
	for _, now := range objects {
		k, n := now.KindAndName()
		if now.Index != o.index && (k != kind || n != name) || k != kind {
			continue
		}
		after, found := origin.Field(now.Content(), field)
		return !found || !reflect.DeepEqual(after, value)
	}
	return false
}

// below is a line of a literal block that begins at a position.
func (o *traced) below(at tree.Position, n int) tree.Position {
	data, err := o.tree.Read(o.tree.RealOr(at.Path))
	if err != nil {
		return at
	}
	lines := strings.Split(string(data), "\n")
	if at.Line < 1 || at.Line+1+n > len(lines) || !strings.Contains(lines[at.Line-1], "|") {
		return at
	}
	return tree.Position{Path: at.Path, Line: at.Line + 1 + n}
}
