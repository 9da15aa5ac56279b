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

// Accounts are those that the controllers impersonate which a FluxInstance installs, by their names: what its
// patches make of Deployments that say nothing of them, in its namespace. The object has unknown fields.
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

// controller is the Deployment of a controller with the fields that patches of its arguments lead through, of its
// name.
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

// patched is what kustomize makes of objects with patches.
type patched struct {
	source render.Source
	text   string
	// patchOf are the fields of the patches, by their files.
	patchOf map[string]string
}

func newPatched(limits tree.Limits, namespace string, resources []string, patches []fluxtypes.InstancePatch) (*patched, error) {
	b := &patched{patchOf: map[string]string{}}
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
		files[name], b.patchOf[name] = text, p.Field
		kus.Patches = append(kus.Patches, types.Patch{Path: name, Target: p.Target.Kustomize()})
	}
	data, err := yaml.Marshal(kus)
	b.text, files["kustomization.yaml"] = string(data), string(data)
	b.source = kustomize.New(tree.New(memfs.Files(files), limits), render.Options{})
	return b, err
}

// patchedRoot is the root that kustomize builds.
var patchedRoot = render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "."}}

// fileOf is the file that a position is in, or that its line of the kustomization names.
func (b *patched) fileOf(at tree.Position) string {
	if lines := strings.Split(b.text, "\n"); at.Path == "kustomization.yaml" && at.Line > 0 && at.Line <= len(lines) {
		return strings.TrimPrefix(lines[at.Line-1], "- path: ")
	}
	return at.Path
}

// build has kustomize apply the patches.
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

// patchFor is a patch without the documents that are for objects which are not among resources: those are among the
// components, and kustomize refuses a patch of nothing. ok is false where none is left.
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
		text += strings.Repeat("\n", max(d.Line-strings.Count(text, "\n"), least)) + string(d.Text) // at its line
		ok = true
	}
	return text, ok || len(documents) == 0
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
