package deploy

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// Options say what is known of deployers beside the tree. The zero value is the default.
type Options struct {
	// Entries are directories that Flux begins with, as clusters/production. Without any, they
	// are found.
	Entries []string
	// Self are sources that are this repository beside those that entry points use:
	// KIND/NAMESPACE/NAME of the object, or its URL.
	Self []string
	// SourcePaths are the directories of the tree that sources of Flux are made of, by KIND/NAMESPACE/NAME of the
	// object, as `flux push artifact --path` makes them. Such a source is this repository.
	SourcePaths map[string]string
	// Remotes are URLs of this repository.
	Remotes []string
	// Strict is set when the controller fails where a variable has no value.
	Strict bool
	// KubeVersion is the Kubernetes version of clusters, as v1.36.0. Empty is the one that is
	// imitated.
	KubeVersion string
	// ArgoCD says what is known of Argo CD.
	ArgoCD ArgoCD
	// Charts are charts of the repository that are judged with values. Others that nothing uses are
	// judged with their own.
	Charts []Chart
	// Upgrade is set when releases are taken to be in the cluster before.
	Upgrade bool
	// Answers, when set, are where objects are written that make units.
	Answers *origin.Answers
	// Everything has all units rendered, not only those that may hold others.
	Everything bool
	// Needs returns what a root needs, and a renderer of a tree in which it needs the same. Nil
	// asks the renderer of the tree.
	Needs func(root render.Root) (*render.Needs, *render.Renderer)
	// Render renders roots and returns their results in the same order. Nil renders them one
	// after the other.
	Render func(ctx context.Context, roots []render.Root) ([]*render.Result, error)
}

// defaultKubeVersion is the version of clusters of which nothing else is known.
const defaultKubeVersion = "v1.36.3"

// What a tree may have deployed: a Kustomization may make others of other names without end.
const (
	maxDepth = 32
	maxUnits = 5_000
	// maxRepeats is how often a directory may be applied by units that are reached through one
	// another.
	maxRepeats = 2
)
