package render

import (
	"encoding/json"

	"github.com/preadmit/preadmit/render/artifact"
)

// Application is the resolved input of an Application of Argo CD, in addition to its object and the files that the
// object names.
type Application struct {
	// Sources are the resolved spec.sources, or spec.source, in order.
	Sources []ApplicationSource
	// Instance is the instance name that Argo CD uses: the name of the Application, or NAMESPACE_NAME if it is not in
	// the namespace of Argo CD.
	Instance string
	// Tracking is the resource tracking method: annotation, label, annotation+label or none.
	Tracking string
	// KubeVersion is the version of the cluster, and APIVersions are the API versions that it serves.
	KubeVersion string
	APIVersions []string
	// KindsKnown is set when the cluster serves no custom kinds but the known ones.
	KindsKnown bool `json:",omitempty"`
	// BuildOptions are kustomize.buildOptions of Argo CD. Settled is set when they are known. Unsettled is the reason
	// if the repository sets some that are not known.
	BuildOptions string
	Settled      bool   `json:"-"`
	Unsettled    string `json:",omitempty"`
	// InstanceLabel is the label for Tracking; empty means app.kubernetes.io/instance. Installation is the
	// installationID of Argo CD; empty for none.
	InstanceLabel string `json:",omitempty"`
	Installation  string `json:",omitempty"`
	// Disabled are the tools that are disabled in Argo CD.
	Disabled []string `json:",omitempty"`
	// Exclusions are the kinds that Argo CD ignores. If there are Inclusions, it ignores all other kinds as well.
	Exclusions, Inclusions []ResourceFilter `json:",omitempty"`
	// Definitions are the custom kinds of the cluster.
	Definitions []Definition
	// Project is the AppProject in JSON, Destination the resolved destination, and Forbidden what the project forbids
	// of the Application itself. They are empty if the project is not known.
	Project     json.RawMessage        `json:",omitempty"`
	Destination ApplicationDestination `json:",omitzero"`
	Forbidden   []Forbidden            `json:",omitempty"`
	// Set is the ApplicationSet that generates the Application; zero for none.
	Set ObjectRef
}

// ResourceFilter selects kinds by lists of patterns. An empty list matches everything.
type ResourceFilter struct {
	APIGroups []string `json:"apiGroups,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	Clusters  []string `json:"clusters,omitempty"`
}

// ApplicationDestination is a cluster registered in Argo CD, and a namespace in it.
type ApplicationDestination struct{ Server, Namespace, Name string }

// Forbidden is a violation of an AppProject: the field of the Application, and Argo CD's message.
type Forbidden struct{ Field, Message string }

// ApplicationSource is a resolved source of an Application.
type ApplicationSource struct {
	// Artifact is the repository or chart of the source; nil for this repository.
	Artifact *Artifact
	// Digest is the digest of a chart's archive.
	Digest string
	// Dependencies are the dependencies of a chart in a directory that are not in its charts/: directories of the
	// source, or archives.
	Dependencies []Dependency
}

// IsChart reports whether a source is the archive of a chart.
func (s *ApplicationSource) IsChart() bool {
	return s.Artifact != nil && s.Artifact.Kind == artifact.Chart
}

// words returns everything but the object that decides what an Application renders to.
func (a *Application) words() []string {
	if a == nil {
		return nil
	}
	text, _ := json.Marshal(a) // strings and booleans
	return []string{string(text)}
}
