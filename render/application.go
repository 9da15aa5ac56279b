package render

import (
	"encoding/json"

	"github.com/preadmit/preadmit/render/artifact"
)

// Application is what a unit of an Application of Argo CD is made of beside its object and the
// files that this names. All of it is resolved.
type Application struct {
	// Sources are those of the Application, in order: spec.sources, or spec.source.
	Sources []ApplicationSource
	// Instance is what Argo CD calls the Application: its name, or NAMESPACE_NAME outside of the
	// namespace of Argo CD.
	Instance string
	// Tracking is how objects say whose they are: one of annotation, label, annotation+label and none.
	Tracking string
	// KubeVersion is the version of the cluster, and APIVersions what it serves.
	KubeVersion string
	APIVersions []string
	// KindsKnown is set when the cluster serves no custom kinds but those that are known here.
	KindsKnown bool `json:",omitempty"`
	// BuildOptions are kustomize.buildOptions of Argo CD. Settled is set when they are known, and Unsettled says why they
	// are not although the repository has some.
	BuildOptions string
	Settled      bool   `json:"-"`
	Unsettled    string `json:",omitempty"`
	// InstanceLabel is the label of Tracking, empty for app.kubernetes.io/instance, and Installation the ID of the Argo CD
	// (installationID), empty for none.
	InstanceLabel string `json:",omitempty"`
	Installation  string `json:",omitempty"`
	// Disabled are the tools that Argo CD does not use.
	Disabled []string `json:",omitempty"`
	// Exclusions and Inclusions are the kinds that Argo CD leaves alone, and if there are any of the latter, the only
	// ones that it does not.
	Exclusions, Inclusions []ResourceFilter `json:",omitempty"`
	// Definitions are the custom kinds of the cluster.
	Definitions []Definition
	// Project is the AppProject in JSON, Destination where the Application applies to, and Forbidden what the
	// project forbids of the Application itself. They are empty when the project is not known.
	Project     json.RawMessage        `json:",omitempty"`
	Destination ApplicationDestination `json:",omitzero"`
	Forbidden   []Forbidden            `json:",omitempty"`
	// Set is the ApplicationSet that generates the Application; zero for none.
	Set ObjectRef
}

// ResourceFilter selects kinds: each list has patterns, or is empty for any.
type ResourceFilter struct {
	APIGroups []string `json:"apiGroups,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	Clusters  []string `json:"clusters,omitempty"`
}

// ApplicationDestination is a cluster that Argo CD knows, and a namespace in it.
type ApplicationDestination struct{ Server, Namespace, Name string }

// Forbidden is something that an AppProject forbids: the field of the Application that decides, and what
// Argo CD says.
type Forbidden struct{ Field, Message string }

// ApplicationSource is where a source of an Application is.
type ApplicationSource struct {
	// Artifact is the repository or chart that the source is, when that is not this repository.
	Artifact *Artifact
	// Digest is that of the archive of a chart.
	Digest string
	// Dependencies are those of a chart in a directory that are not in its charts/. They are directories
	// of the source, or archives.
	Dependencies []Dependency
}

// IsChart reports whether a source is the archive of a chart.
func (s *ApplicationSource) IsChart() bool {
	return s.Artifact != nil && s.Artifact.Kind == artifact.Chart
}

// words are all that decides what an Application renders to beside its object.
func (a *Application) words() []string {
	if a == nil {
		return nil
	}
	text, _ := json.Marshal(a) // strings and booleans
	return []string{string(text)}
}
