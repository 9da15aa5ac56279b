package render

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/Masterminds/semver/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/preadmit/preadmit/render/tree"
)

// RootKind is the kind of a root, which decides how it renders.
type RootKind string

const (
	// KindKustomize is a directory with a kustomization file.
	KindKustomize RootKind = "kustomize"
	// KindPlain is a directory of Kubernetes YAML or JSON files.
	KindPlain RootKind = "plain"
	// KindFlux is the directory that a Flux Kustomization applies, built as kustomize-controller builds it. Its root
	// has a Unit.
	KindFlux RootKind = "flux"
	// KindHelm is the chart that a HelmRelease installs, with values. Its root has a Unit with a Release.
	KindHelm RootKind = "helm"
	// KindResourceSet is a ResourceSet of flux-operator. Its root has a Unit, and no files.
	KindResourceSet RootKind = "resourceset"
	// KindArgoCD is an Application of Argo CD: the objects of its sources. Its root has a Unit with an Application.
	KindArgoCD RootKind = "argocd"
)

// RootID identifies a root within its tree. It is comparable. Several roots may have the same directory if different
// objects define them.
type RootID struct {
	Kind RootKind
	// Dir is the directory, slash separated, relative to the tree; "." is the top. For a root with an Object, it is not
	// part of the identity: see ComparePlace.
	Dir string
	// Object is the object that defines the root. It is zero for a root that is just a directory, which kustomize or
	// kubectl render by themselves.
	Object ObjectRef
	// Cluster is the cluster of Object: the directory of the entry point from which a deployer reaches it, for example
	// clusters/production. Different clusters may have objects of the same name. It is empty for a root without an
	// Object.
	Cluster string
}

// ObjectRef names a Kubernetes object.
type ObjectRef struct {
	Group, Kind, Namespace, Name string
}

// String returns the directory, or the object that defines the root with its cluster. It is unique within a tree.
func (id RootID) String() string {
	switch {
	case id.Object == (ObjectRef{}):
		return id.Dir
	case id.Cluster == "":
		return id.Object.String()
	}
	return fmt.Sprintf("%s (%s)", id.Object, id.Cluster)
}

// String returns kind, namespace and name, for example Kustomization/flux-system/apps.
func (o ObjectRef) String() string { return o.Kind + "/" + o.Namespace + "/" + o.Name }

// Compare orders identities by place, kind and directory.
func (id RootID) Compare(other RootID) int {
	return cmp.Or(id.ComparePlace(other), cmp.Compare(id.Kind, other.Kind), cmp.Compare(id.Dir, other.Dir))
}

// ComparePlace orders identities by what stays the same in a change: the directory of a root without an object,
// whatever its kind, or the object of a root in its cluster, whatever its directory. Roots without objects come first.
func (id RootID) ComparePlace(other RootID) int {
	a, b := id.Object, other.Object
	object := cmp.Or(cmp.Compare(id.Cluster, other.Cluster), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	if object != 0 || a != (ObjectRef{}) {
		return object
	}
	return cmp.Compare(id.Dir, other.Dir)
}

// Root is a part of a tree that renders to objects.
type Root struct {
	RootID
	// Files are the manifest files of a plain root, in lexical order (full paths relative to the tree). Other roots
	// have none.
	Files []string
	// Unit is what the deployer adds; nil for a root that is just a directory.
	Unit *Unit
}

// Same reports whether two roots of different trees are equal, so that only the files they read can make them render,
// or be applied, differently.
func (r Root) Same(other Root) bool {
	return r.RootID == other.RootID && slices.Equal(r.Files, other.Files) && r.Unit.Same(other.Unit)
}

// listed reports whether a root consists of the files it lists. Reading them costs no more than finding out whether
// they were read before.
func (r Root) listed() bool { return len(r.Files) > 0 }

// Content decodes the object as an API server does: maps, slices, strings, bools,
// int64, float64 and nil.
func (o *Object) Content() map[string]any {
	var content map[string]any
	_ = utiljson.Unmarshal(o.JSON, &content) // preadmit encoded it
	return content
}

func (p *Problem) Error() string { return p.Place().String() + ": " + p.Message }

// Severity is the severity of a Diagnostic.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Diagnostic is a located remark about the tree that is not a verdict: a file
// that looks like a manifest but does not parse, a deprecated field.
type Diagnostic struct {
	Severity Severity
	tree.Position
	Message string
}

// Discovery is the result of searching a tree.
type Discovery struct {
	// Roots are in the order of their identities.
	Roots []Root
	// Diagnostics are about files that look like manifests but are not valid, in the order of their positions.
	Diagnostics []Diagnostic
	// Gaps are what may be applied, but is in no root.
	Gaps []Gap
	// Unlisted are the manifests in directories with a kustomization that does not use them.
	Unlisted []string
}

// UnusedCharts returns the directories of charts that no kustomization uses.
func (d *Discovery) UnusedCharts() (dirs []string) {
	for _, gap := range d.Gaps {
		if gap.Kind == GapChart {
			dirs = append(dirs, gap.Path)
		}
	}
	return dirs
}

// UnusedManifests returns the manifests that no kustomization uses, in a directory with a kustomization or with a
// manifest that a kustomization uses. Each is returned as a root.
func (d *Discovery) UnusedManifests() (roots []Root) {
	names := slices.Clone(d.Unlisted)
	for _, gap := range d.Gaps {
		if gap.Kind == GapUnused {
			names = append(names, gap.Path)
		}
	}
	for _, name := range names {
		roots = append(roots, Root{RootID: RootID{Kind: KindPlain, Dir: name}, Files: []string{name}})
	}
	return roots
}

// LoadRestrictor is kustomize's --load-restrictor.
type LoadRestrictor string

const (
	// LoadRestrictionsNone lets a kustomization read files outside its own
	// directory (never outside the tree). The default, as in Flux.
	LoadRestrictionsNone LoadRestrictor = "LoadRestrictionsNone"
	// LoadRestrictionsRootOnly is the default of the kustomize command.
	LoadRestrictionsRootOnly LoadRestrictor = "LoadRestrictionsRootOnly"
)

// Options configure rendering. The zero value is the default.
type Options struct {
	LoadRestrictor LoadRestrictor
	Limits         tree.Limits
	// Isolate runs a job in a separate process: one that changes the state of its process, as kustomize does with a
	// schema (`openapi:`), or that can only be bounded by ending the process, like Jsonnet. If nil, roots that need it
	// are refused.
	Isolate Isolator
	// KustomizeVersion is the version that kustomize writes into a label (buildMetadata managedByLabel), for example
	// v5.8.1; empty if the builder's version of kustomize is not known.
	KustomizeVersion string
	// NoCharts is the error for a kustomization that inflates charts, if its builder does not inflate them; empty for
	// `kustomize build --enable-helm`.
	NoCharts string
	// ChartsUnsettled is set when it is not known whether NoCharts applies.
	ChartsUnsettled bool
	// ChartKubeVersion and ChartAPIVersions are what charts of kustomizations see of the cluster, instead of the values
	// in their entries; empty if the entries count.
	ChartKubeVersion string
	ChartAPIVersions []string
	// ChartKinds is set when the cluster may serve custom kinds that are not among ChartAPIVersions.
	ChartKinds bool
	// Cache, when set, stores results for later use.
	Cache *Cache
}

// Isolator runs a job on a tree in a separate process and returns its result. Package isolate makes one; the kinds of
// jobs are in package sources.
type Isolator func(ctx context.Context, fsys fs.FS, limits tree.Limits, kind string, spec any) (json.RawMessage, error)

// Result is the outcome of rendering one root. Either Problem is nil, or Objects
// is empty.
type Result struct {
	Root    Root
	Objects []*Object
	Trace   tree.Trace
	// Problem is the reason why the root did not render.
	Problem *Problem
	// Lacks is what the root was rendered without; nil if nothing is missing.
	Lacks *Lack
	// Diagnostics are remarks about a root that rendered.
	Diagnostics []Diagnostic
	// Queries are the lookups of a chart in the cluster whose results are not in its unit.
	Queries []Query
	// KubeVersion describes how a chart uses the version of Kubernetes; nil if that is not known, and for a root
	// without charts.
	KubeVersion *KubeVersionUse
}

// KubeVersionUse describes how a chart uses the version of Kubernetes that it sees.
type KubeVersionUse struct {
	// Read is set once the version may have had an influence: on the result of rendering, or on finding where the
	// result is written, which renders the root with other values.
	Read atomic.Bool
	// Allowed are the versions that the chart allows, as written in Chart.yaml; empty for all.
	Allowed string
}

// IsRead reports whether the version may have had an influence so far.
func (u *KubeVersionUse) IsRead() bool { return u != nil && u.Read.Load() }

// ofAnyVersion reports whether a chart renders to the same for all versions of Kubernetes that it allows.
func (r *Result) ofAnyVersion() bool { return r.KubeVersion != nil && !r.KubeVersion.IsRead() }

// allows reports whether a chart allows a version (helm.sh/helm/v4/pkg/chart/v2/util, IsCompatibleRange).
func allows(wanted, version string) bool {
	if wanted == "" {
		return true
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	constraint, err := semver.NewConstraint(wanted)
	return err == nil && constraint.Check(v)
}

// Types of package tree that are used in results.
type (
	// Position is a place in a file of a tree.
	Position = tree.Position
	// Limits bound what rendering a tree may cost.
	Limits = tree.Limits
	// Trace is what rendering has read.
	Trace = tree.Trace
)
