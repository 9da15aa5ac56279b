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

// RootKind says how a root renders.
type RootKind string

const (
	// KindKustomize is a directory with a kustomization file.
	KindKustomize RootKind = "kustomize"
	// KindPlain is a directory of Kubernetes YAML or JSON files.
	KindPlain RootKind = "plain"
	// KindFlux is what a Flux Kustomization applies: a directory, built as kustomize-controller
	// builds it. Its root has a Unit.
	KindFlux RootKind = "flux"
	// KindHelm is what a HelmRelease has installed: a chart with values. Its root has a Unit with
	// a Release.
	KindHelm RootKind = "helm"
	// KindResourceSet is what a ResourceSet of flux-operator makes. Its root has a Unit, and no
	// files.
	KindResourceSet RootKind = "resourceset"
	// KindArgoCD is what an Application of Argo CD applies: what its sources render to. Its root has
	// a Unit with an Application.
	KindArgoCD RootKind = "argocd"
)

// RootID identifies a root within its tree. It is comparable. Two roots may share a
// directory when different objects ask for it.
type RootID struct {
	Kind RootKind
	// Dir is the directory, slash separated, relative to the tree; "." is the top. It is no
	// part of what a root with an Object is: see ComparePlace.
	Dir string
	// Object is the object that asks for the root. It is zero for a root that is its
	// directory only, as all are that kustomize or kubectl render by themselves.
	Object ObjectRef
	// Cluster is the cluster that Object lives in: the directory of the entry point from
	// which a deployer reaches it, as clusters/production. Clusters may have objects of the
	// same name. It is empty for a root without an Object.
	Cluster string
}

// ObjectRef names a Kubernetes object.
type ObjectRef struct {
	Group, Kind, Namespace, Name string
}

// String returns the directory, or the object that asks for the root with its cluster. No
// two roots of a tree have the same.
func (id RootID) String() string {
	switch {
	case id.Object == (ObjectRef{}):
		return id.Dir
	case id.Cluster == "":
		return id.Object.String()
	}
	return fmt.Sprintf("%s (%s)", id.Object, id.Cluster)
}

// String returns kind, namespace and name, as Kustomization/flux-system/apps.
func (o ObjectRef) String() string { return o.Kind + "/" + o.Namespace + "/" + o.Name }

// Compare orders identities by place, kind and directory.
func (id RootID) Compare(other RootID) int {
	return cmp.Or(id.ComparePlace(other), cmp.Compare(id.Kind, other.Kind), cmp.Compare(id.Dir, other.Dir))
}

// ComparePlace orders identities by what they are before and after a change: a root without
// an object is its directory, of whatever kind; one that an object asks for is that object
// in its cluster, whichever directory it names. Roots without objects come first.
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
	// Files are the manifest files of a plain root, in lexical order (full paths
	// relative to the tree). Empty for a kustomize root.
	Files []string
	// Unit is what the deployer adds; nil for a root that is its directory only.
	Unit *Unit
}

// Same reports whether two trees agree on what makes up a root, so that only the files
// it reads can make it render, or be applied, differently.
func (r Root) Same(other Root) bool {
	return r.RootID == other.RootID && slices.Equal(r.Files, other.Files) && r.Unit.Same(other.Unit)
}

// listed reports whether a root is the files it lists. Reading them costs no more than
// finding out whether they were read before.
func (r Root) listed() bool { return len(r.Files) > 0 }

// Content decodes the object as an API server does: maps, slices, strings, bools,
// int64, float64 and nil.
func (o *Object) Content() map[string]any {
	var content map[string]any
	_ = utiljson.Unmarshal(o.JSON, &content) // it was encoded here
	return content
}

func (p *Problem) Error() string { return p.Place().String() + ": " + p.Message }

// Severity orders diagnostics.
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

// Discovery is what a tree holds.
type Discovery struct {
	// Roots are in the order of their identities.
	Roots []Root
	// Diagnostics are about files that look like manifests and are not, in the order
	// of their positions.
	Diagnostics []Diagnostic
	// Gaps are what may be applied, but is in no root.
	Gaps []Gap
	// Unlisted are the manifests in directories of kustomizations that these do not use.
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

// UnusedManifests returns the manifests beside a kustomization, or beside one that a kustomization uses, that
// none uses, each as a root.
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

// Options steer rendering. The zero value is the default.
type Options struct {
	LoadRestrictor LoadRestrictor
	Limits         tree.Limits
	// Isolate does in a process of its own what keeps state in a process, as kustomize does with
	// a schema (`openapi:`), and what can be bounded only by ending the process, as Jsonnet. When
	// nil, roots that need it are refused.
	Isolate Isolator
	// KustomizeVersion is the version that kustomize writes into a label (buildMetadata managedByLabel), as
	// v5.8.1; empty where it is not known which kustomize builds.
	KustomizeVersion string
	// NoCharts is what is wrong with a kustomization that inflates charts, where what builds it does
	// not; empty for `kustomize build --enable-helm`.
	NoCharts string
	// ChartsUnsettled is set when it is not known whether NoCharts is true.
	ChartsUnsettled bool
	// ChartKubeVersion and ChartAPIVersions are what charts of kustomizations see of the cluster, in
	// place of what their entries say; "" and nil when nothing is.
	ChartKubeVersion string
	ChartAPIVersions []string
	// ChartKinds is set when the cluster may serve custom kinds that are not among ChartAPIVersions.
	ChartKinds bool
	// Cache, when set, spares rendering what was rendered before.
	Cache *Cache
}

// Isolator does a job on a tree in a process of its own and returns its result. Package isolate
// makes one; the kinds of jobs are in package sources.
type Isolator func(ctx context.Context, fsys fs.FS, limits tree.Limits, kind string, spec any) (json.RawMessage, error)

// Result is the outcome of rendering one root. Either Problem is nil, or Objects
// is empty.
type Result struct {
	Root    Root
	Objects []*Object
	Trace   tree.Trace
	// Problem says why the root did not render.
	Problem *Problem
	// Lacks is what the root was rendered without; nil when Objects are all that it has.
	Lacks *Lack
	// Diagnostics are remarks about a root that did render.
	Diagnostics []Diagnostic
	// Asked is what a chart looked up in the cluster and its unit does not say.
	Asked []Query
	// KubeVersion is what a chart makes of the version of Kubernetes; nil where that is not known, and for a root
	// without charts.
	KubeVersion *KubeVersionUse
}

// KubeVersionUse is how a chart uses the version of Kubernetes that it sees.
type KubeVersionUse struct {
	// Read is set once the version may have decided something: what a root renders to, or since then where that
	// is written, which is found by rendering it with other values.
	Read atomic.Bool
	// Wanted are the versions that the chart takes, as Chart.yaml says it; empty for all.
	Wanted string
}

// IsRead reports whether the version may have decided something so far.
func (u *KubeVersionUse) IsRead() bool { return u != nil && u.Read.Load() }

// ofAnyVersion reports whether a chart renders to the same for all versions of Kubernetes that it takes.
func (r *Result) ofAnyVersion() bool { return r.KubeVersion != nil && !r.KubeVersion.IsRead() }

// allows reports whether a version is one that a chart takes (helm.sh/helm/v4/pkg/chart/v2/util, IsCompatibleRange).
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

// Results describe files with the types of package tree.
type (
	// Position is a place in a file of a tree.
	Position = tree.Position
	// Limits bound what rendering a tree may cost.
	Limits = tree.Limits
	// Trace is what a render read.
	Trace = tree.Trace
)
