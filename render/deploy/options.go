package deploy

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/before"
	"github.com/preadmit/preadmit/render/origin"
)

// Options are the known facts about deployers that are not in the tree. The zero value is the default.
type Options struct {
	// Entries are the directories of Flux's entry points, for example clusters/production. If empty, entry points are
	// discovered.
	Entries []string
	// Self are sources that are this repository, in addition to those that entry points use: KIND/NAMESPACE/NAME of the
	// object, or its URL.
	Self []string
	// SourcePaths are the directories of the tree that sources of Flux contain, by KIND/NAMESPACE/NAME of the object,
	// as packed by `flux push artifact --path`. Such a source is this repository.
	SourcePaths map[string]string
	// Remotes are URLs of this repository.
	Remotes []string
	// Strict is set if kustomize-controller fails for a variable without a value.
	Strict bool
	// KubeVersion is the Kubernetes version of clusters, for example v1.36.0. Empty means the version that is imitated.
	KubeVersion string
	// ArgoCD is the configuration of Argo CD.
	ArgoCD ArgoCD
	// Charts are charts of the repository that are judged with values. Other unused charts are judged with their own
	// values.
	Charts []Chart
	// Upgrade is set if releases are assumed to be installed already.
	Upgrade bool
	// Before is the state of clusters before the change; nil for none.
	Before before.State
	// Answers, when set, are the known places of the objects that define units.
	Answers *origin.Answers
	// Everything makes Expand render all units, not only those that may hold others.
	Everything bool
	// Needs returns what a root needs, and a renderer of a tree in which the root needs the same. Nil means the
	// renderer of the tree.
	Needs func(root render.Root) (*render.Needs, *render.Renderer)
	// Render renders roots and returns their results in the same order. Nil renders them one after another.
	Render func(ctx context.Context, roots []render.Root) ([]*render.Result, error)
}

// defaultKubeVersion is the version of clusters whose version is not known.
const defaultKubeVersion = "v1.36.3"

// Limits of the graph: Kustomizations may make others, under other names, without end.
const (
	maxDepth = 32
	maxUnits = 5_000
	// maxRepeats is how often nested units may apply the same directory.
	maxRepeats = 2
	// maxFiles is how many files of a directory may be for clusters of their own.
	maxFiles = 100
)
