package flux

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"

	kjson "sigs.k8s.io/json"
)

// Sync is what flux-operator makes of spec.sync of a FluxInstance, as the patches of the instance
// change it (flux-operator, internal/builder).
type Sync struct {
	// Source is nil where the patches leave none.
	Source, Kustomization *render.Object

	instance *fluxtypes.Instance
	// built returns where kustomize read the Kustomization from; nil where there are no patches. patchOf has
	// the fields of the instance that are the files with patches.
	built   func() *origin.Origin
	patchOf map[string]string
}

// SyncError says what is wrong with a field of a FluxInstance.
type SyncError struct {
	Kind           render.ProblemKind
	Field, Message string
}

func (e *SyncError) Error() string { return e.Message }

// NewSync applies the patches of a FluxInstance, whose object has unknown fields, to its source and its
// Kustomization. The error is a SyncError.
func NewSync(ctx context.Context, limits tree.Limits, instance *fluxtypes.Instance, unknown []render.Unknown, source, kustomization json.RawMessage) (*Sync, error) {
	s, err := newSync(ctx, limits, instance, source, kustomization)
	for _, u := range unknown {
		known, field := instance.Without(u.Path)
		if known == nil {
			continue
		}
		without, bad := newSync(ctx, limits, known, source, kustomization)
		if err != nil || bad != nil || !s.same(without) {
			return nil, &SyncError{render.ProblemRefused, field, fmt.Sprintf("the field %s of the FluxInstance is not known: %s", strings.Join(u.Path, "."), u.Reason)}
		}
	}
	return s, err
}

// newSync applies the patches as they are.
func newSync(ctx context.Context, limits tree.Limits, instance *fluxtypes.Instance, source, kustomization json.RawMessage) (*Sync, error) {
	s := &Sync{Source: &render.Object{JSON: source}, Kustomization: &render.Object{JSON: kustomization}, instance: instance, patchOf: map[string]string{}}
	patches := instance.Patches()
	if len(patches) == 0 {
		return s, nil
	}
	files := map[string]string{"sync.yaml": string(source) + "\n---\n" + string(kustomization) + "\n" + others(patches)}
	kus := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Namespace: headerOf(kustomization).Metadata.Namespace,
		Resources: []string{"sync.yaml"},
	}
	for i, p := range patches {
		name := fmt.Sprintf("patch-%d.yaml", i)
		files[name], s.patchOf[name] = p.Patch.Patch, p.Field
		kus.Patches = append(kus.Patches, types.Patch{Path: name, Target: p.Target.Kustomize()})
	}
	data, err := yaml.Marshal(kus)
	if err != nil {
		return nil, s.failed(&render.Problem{Kind: render.ProblemFailed, Message: err.Error()})
	}
	files["kustomization.yaml"] = string(data)
	if p := s.build(ctx, kustomize.New(tree.New(memfs.Files(files), limits), render.Options{})); p != nil {
		if lines := strings.Split(string(data), "\n"); p.Position.Path == "kustomization.yaml" && p.Position.Line > 0 && p.Position.Line <= len(lines) {
			p.Position.Path = strings.TrimPrefix(lines[p.Position.Line-1], "- path: ")
		}
		return nil, s.failed(p)
	}
	return s, nil
}

// build has kustomize apply the patches.
func (s *Sync) build(ctx context.Context, with render.Source) *render.Problem {
	result := with.Render(ctx, render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "."}})
	if result.Problem != nil {
		return result.Problem
	}
	s.Source, s.Kustomization = nil, nil
	for i, o := range result.Objects {
		switch h := headerOf(o.JSON); {
		case strings.HasPrefix(h.APIVersion, fluxtypes.SourceGroup+"/"):
			s.Source = o
		case strings.HasPrefix(h.APIVersion, Group+"/") && h.Kind == Kind.Kind:
			s.Kustomization = o
			s.built = sync.OnceValue(func() *origin.Origin {
				if origins, err := with.Origins(context.WithoutCancel(ctx), result); err == nil {
					return origins[i]
				}
				return origin.Known(origin.Places{})
			})
		}
	}
	if s.Kustomization == nil {
		return &render.Problem{Kind: render.ProblemRefused, Message: "they delete the Kustomization of spec.sync"}
	}
	return nil
}

// failed is an error at the field that a file of the build is.
func (s *Sync) failed(p *render.Problem) error {
	field := cmp.Or(s.patchOf[p.Position.Path], s.instance.Field+".kustomize.patches")
	return &SyncError{p.Kind, field, "the patches of the FluxInstance cannot be applied: " + p.Message}
}

// same reports whether two are the same objects.
func (s *Sync) same(other *Sync) bool {
	same := func(a, b *render.Object) bool {
		return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a.JSON, b.JSON)
	}
	return same(s.Source, other.Source) && same(s.Kustomization, other.Kustomization)
}

// header is what an object is called.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	} `json:"metadata"`
}

func headerOf(object []byte) (h header) {
	_ = kjson.UnmarshalCaseSensitivePreserveInts(object, &h) // a patch may be anything; others were encoded here
	return h
}

// others are the objects that patches name which say no target, of the kinds that spec.sync does not make:
// they are among the components, and kustomize refuses a patch of nothing.
func others(patches []fluxtypes.InstancePatch) string {
	var headers []header
	for _, p := range patches {
		if p.Target != nil || guard(p.Patch.Patch) != nil {
			continue
		}
		documents, _ := tree.SplitDocuments("", []byte(p.Patch.Patch))
		for _, d := range documents {
			data, err := yaml.YAMLToJSON(d.Text)
			if err != nil {
				continue
			}
			h := headerOf(data)
			ours := strings.HasPrefix(h.APIVersion, fluxtypes.SourceGroup+"/") || strings.HasPrefix(h.APIVersion, Group+"/")
			if h.APIVersion != "" && h.Kind != "" && h.Metadata.Name != "" && !ours && !slices.Contains(headers, h) {
				headers = append(headers, h)
			}
		}
	}
	var out strings.Builder
	for _, h := range headers {
		data, _ := json.Marshal(h) // strings
		fmt.Fprintf(&out, "---\n%s\n", data)
	}
	return out.String()
}

// madeOf are the fields of a FluxInstance that its operator copies.
var madeOf = map[string]string{
	"metadata.name": ".sync.name", "spec.path": ".sync.path", "spec.sourceRef.kind": ".sync.kind", "spec.sourceRef.name": ".sync.name",
}

// Origin returns where the Kustomization was written, going by that of the object that makes it: a patch, or
// spec.sync.
func (s *Sync) Origin(of *origin.Origin, t *tree.Tree) *origin.Origin {
	return origin.New(func() origin.Places {
		return origin.Places{Document: of.Document(), Find: func(field string, part origin.Part) origin.Place {
			if s.built != nil {
				if in := s.built().Place(field, part); s.patchOf[in.Path] != "" {
					return inPatch(of.Place(s.patchOf[in.Path], origin.Whole), in, t)
				}
			}
			at := of.Place(s.instance.Field+cmp.Or(madeOf[field], ".sync"), origin.Whole)
			if at.Evidence = min(at.Evidence, origin.Inferred); madeOf[field] == "" {
				at.Evidence = origin.Nearest
			}
			return at
		}}
	})
}

// inPatch is the place of what a patch says, which is at a place in its text.
func inPatch(at, in origin.Place, t *tree.Tree) origin.Place {
	if data, err := t.Read(t.RealOr(at.Path)); err == nil && at.Found() {
		at.Position = origin.InLiteral(strings.Split(string(data), "\n"), at.Position, in.Position)
	}
	if at.Found() && in.Found() {
		return origin.Place{Position: at.Position, Evidence: origin.Inferred}
	}
	return origin.Place{Position: at.Position}
}
