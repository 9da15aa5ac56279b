package flux

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// Sync are the objects that flux-operator creates for spec.sync of a FluxInstance, with the patches of the instance
// (flux-operator, internal/builder).
type Sync struct {
	// Source is nil if the patches delete it.
	Source, Kustomization *render.Object

	instance *fluxtypes.Instance
	// built returns the origin of the Kustomization in the build; nil without patches. patchOf maps the files with
	// patches to the fields of the instance.
	built   func() *origin.Origin
	patchOf map[string]instancePatch
}

// SyncError is the error of a field of a FluxInstance.
type SyncError struct {
	Kind           render.ProblemKind
	Field, Message string
}

func (e *SyncError) Error() string { return e.Message }

// NewSync applies the patches of a FluxInstance to its source and its Kustomization. unknown are the unknown fields of
// the instance. The error is a SyncError.
func NewSync(ctx context.Context, limits tree.Limits, instance *fluxtypes.Instance, unknown []render.Unknown, source, kustomization json.RawMessage) (*Sync, error) {
	s, err := newSync(ctx, limits, instance, source, kustomization)
	for _, u := range unknown {
		known, field := instance.Without(u.Path)
		if known == nil {
			continue
		}
		without, bad := newSync(ctx, limits, known, source, kustomization)
		if err != nil || bad != nil || !s.same(without) {
			return nil, &SyncError{render.ProblemRefused, field, fmt.Sprintf("the field %s of the FluxInstance is not known: %s", u.Field(), u.Reason)}
		}
	}
	return s, err
}

// newSync applies the patches without regard to unknown fields.
func newSync(ctx context.Context, limits tree.Limits, instance *fluxtypes.Instance, source, kustomization json.RawMessage) (*Sync, error) {
	s := &Sync{Source: &render.Object{JSON: source}, Kustomization: &render.Object{JSON: kustomization}, instance: instance, patchOf: map[string]instancePatch{}}
	patches := instance.Patches()
	if len(patches) == 0 {
		return s, nil
	}
	b, err := newPatched(limits, headerOf(kustomization).Metadata.Namespace, []string{string(source), string(kustomization)}, patches)
	if err != nil {
		return nil, s.failed(&render.Problem{Kind: render.ProblemFailed, Message: err.Error()})
	}
	s.patchOf = b.patchOf
	if p := s.build(ctx, b.source); p != nil {
		p.Position.Path = b.fileOf(p.Position)
		return nil, s.failed(p)
	}
	return s, nil
}

// Accounts returns the default service accounts of the controllers that a FluxInstance installs in a namespace, by
// controller name: the result of its patches on Deployments without the flag. unknown are the unknown fields of the
// instance.
func Accounts(ctx context.Context, limits tree.Limits, instance *fluxtypes.Instance, namespace string, unknown []render.Unknown) map[string]fluxtypes.Account {
	all := accounts(ctx, limits, instance, namespace)
	for _, u := range unknown {
		known, _ := instance.Without(u.Path)
		if known == nil {
			continue
		}
		without := accounts(ctx, limits, known, namespace)
		for name, account := range all {
			if account != without[name] {
				all[name] = fluxtypes.Account{Unknown: u.Reason}
			}
		}
	}
	return all
}

func accounts(ctx context.Context, limits tree.Limits, instance *fluxtypes.Instance, namespace string) map[string]fluxtypes.Account {
	all := map[string]fluxtypes.Account{fluxtypes.KustomizeController: {}, fluxtypes.HelmController: {}}
	patches := slices.DeleteFunc(instance.Patches(), func(p fluxtypes.InstancePatch) bool { return !p.MentionsAccount() })
	if len(patches) == 0 {
		return all
	}
	var resources []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		resources = append(resources, fmt.Sprintf(controller, name, namespace))
	}
	b, err := newPatched(limits, namespace, resources, patches)
	var result *render.Result
	if err == nil {
		result = b.source.Render(ctx, patchedRoot)
		if result.Problem != nil {
			err = result.Problem
		}
	}
	for name := range all {
		if err != nil {
			all[name] = fluxtypes.Account{Unknown: "the patches of the FluxInstance cannot be applied: " + err.Error()}
			continue
		}
		for _, o := range result.Objects {
			if h := headerOf(o.JSON); h.Kind == fluxtypes.ControllerKind.Kind && h.Metadata.Name == name {
				all[name] = fluxtypes.AccountOf(o)
			}
		}
	}
	return all
}

// controller is the Deployment of a controller, with its name and all fields on the paths that patches of its arguments
// use.
const controller = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
  namespace: %[2]s
  labels: {app.kubernetes.io/component: %[1]s, app.kubernetes.io/part-of: flux, control-plane: controller}
spec:
  template:
    metadata: {labels: {app: %[1]s}, annotations: {}}
    spec:
      containers:
      - name: manager
        args: [--events-addr=, --watch-all-namespaces=true, --log-level=info, --log-encoding=json, --enable-leader-election]
        env: []
        resources: {}
      nodeSelector: {}
`

// patched renders objects with patches.
type patched struct {
	source render.Source
	text   string
	// patchOf maps the files of the patches to the patches of the instance.
	patchOf map[string]instancePatch
}

func newPatched(limits tree.Limits, namespace string, resources []string, patches []fluxtypes.InstancePatch) (*patched, error) {
	b := &patched{patchOf: map[string]instancePatch{}}
	files := map[string]string{"resources.yaml": strings.Join(resources, "\n---\n")}
	var headers []header
	for _, r := range resources {
		data, err := yaml.YAMLToJSON([]byte(r))
		if err != nil {
			return nil, err
		}
		headers = append(headers, headerOf(data))
	}
	kus := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Namespace: namespace, Resources: []string{"resources.yaml"},
	}
	for i, p := range patches {
		text, ok := patchFor(headers, p)
		if !ok {
			continue
		}
		name := fmt.Sprintf("patch-%d.yaml", i)
		files[name], b.patchOf[name] = text, instancePatch{p.Field, p.Patch.Patch}
		kus.Patches = append(kus.Patches, types.Patch{Path: name, Target: p.Target.Kustomize()})
	}
	data, err := yaml.Marshal(kus)
	b.text, files["kustomization.yaml"] = string(data), string(data)
	b.source = kustomize.New(tree.New(memfs.Files(files), limits), render.Options{})
	return b, err
}

// patchedRoot is the root that kustomize builds.
var patchedRoot = render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "."}}

// fileOf returns the file of a position. For a position in the kustomization, it is the patch file on that line.
func (b *patched) fileOf(at tree.Position) string {
	if lines := strings.Split(b.text, "\n"); at.Path == "kustomization.yaml" && at.Line > 0 && at.Line <= len(lines) {
		return strings.TrimPrefix(lines[at.Line-1], "- path: ")
	}
	return at.Path
}

// build applies the patches.
func (s *Sync) build(ctx context.Context, with render.Source) *render.Problem {
	result := with.Render(ctx, patchedRoot)
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

// failed returns the error for a problem, at the field of the patch file that causes it.
func (s *Sync) failed(p *render.Problem) error {
	field := cmp.Or(s.patchOf[p.Position.Path].field, s.instance.Field+".kustomize.patches")
	return &SyncError{p.Kind, field, "the patches of the FluxInstance cannot be applied: " + p.Message}
}

// same reports whether two have the same objects.
func (s *Sync) same(other *Sync) bool {
	same := func(a, b *render.Object) bool {
		return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a.JSON, b.JSON)
	}
	return same(s.Source, other.Source) && same(s.Kustomization, other.Kustomization)
}

// header is the kind and the name of an object.
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

// patchFor returns a patch without the documents for objects that are not among resources. Those are for other
// components, and kustomize refuses a patch without a target. ok is false if no document remains.
func patchFor(resources []header, p fluxtypes.InstancePatch) (text string, ok bool) {
	if p.Target != nil || guard(p.Patch.Patch) != nil {
		return p.Text(), true
	}
	documents, _ := tree.SplitDocuments("", []byte(p.Patch.Patch))
	for _, d := range documents {
		h := header{}
		if data, err := yaml.YAMLToJSON(d.Text); err == nil {
			h = headerOf(data)
		}
		isThere := slices.ContainsFunc(resources, func(r header) bool {
			return r.Kind == h.Kind && (r.Kind != fluxtypes.ControllerKind.Kind || r.Metadata.Name == h.Metadata.Name)
		})
		if h.Kind != "" && h.Metadata.Name != "" && !isThere {
			continue
		}
		least := 0
		if ok {
			text, least = text+"\n---", 1
		}
		text += strings.Repeat("\n", max(d.Line-strings.Count(text, "\n"), least)) + string(d.Text) // keeps its line number
		ok = true
	}
	return text, ok || len(documents) == 0
}

// madeOf maps fields of the Kustomization to the fields of a FluxInstance that flux-operator copies.
var madeOf = map[string]string{
	"metadata.name": ".sync.name", "spec.path": ".sync.path", "spec.sourceRef.kind": ".sync.kind", "spec.sourceRef.name": ".sync.name",
}

// Origin returns the origin of the Kustomization. of is the origin of the FluxInstance: fields are written in a patch,
// or in spec.sync.
func (s *Sync) Origin(of *origin.Origin, t *tree.Tree) *origin.Origin {
	return origin.New(func() origin.Places {
		return origin.Places{Document: of.Document(), Find: func(field string, part origin.Part) origin.Place {
			if s.built != nil {
				in := s.built().Place(field, part)
				if patch, ok := s.patchOf[in.Path]; ok {
					return patch.place(of.Place(patch.field, origin.Whole), in, t)
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

// instancePatch is a patch of a FluxInstance: its field, and its text.
type instancePatch struct{ field, text string }

// place returns the place of a position in the text of the patch. at is the place of the text, and in the position in it.
func (p instancePatch) place(at, in origin.Place, t *tree.Tree) origin.Place {
	if data, err := t.Read(t.RealOr(at.Path)); err == nil && at.Found() {
		at.Position = origin.InScalar(strings.Split(string(data), "\n"), at.Position, p.text, in.Position)
	}
	if at.Found() && in.Found() {
		return origin.Place{Position: at.Position, Evidence: origin.Inferred}
	}
	return origin.Place{Position: at.Position}
}
