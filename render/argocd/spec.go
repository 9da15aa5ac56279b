package argocd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preadmit/preadmit/render/argocd/settings"

	kjson "sigs.k8s.io/json"
)

// Group is the API group of Argo CD.
const Group = "argoproj.io"

// The kinds of Argo CD.
var (
	Kind        = schema.GroupKind{Group: Group, Kind: "Application"}
	SetKind     = schema.GroupKind{Group: Group, Kind: "ApplicationSet"}
	ProjectKind = schema.GroupKind{Group: Group, Kind: "AppProject"}
)

// Application has the fields of an Application that influence what is applied.
type Application struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Annotations map[string]string `json:"annotations"`
		Finalizers  []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec Spec `json:"spec"`
}

// Spec is the spec of an Application.
type Spec struct {
	Source            *Source               `json:"source"`
	Sources           []Source              `json:"sources"`
	SourceHydrator    *json.RawMessage      `json:"sourceHydrator"`
	Destination       Destination           `json:"destination"`
	Project           string                `json:"project"`
	SyncPolicy        *SyncPolicy           `json:"syncPolicy"`
	IgnoreDifferences []settings.Difference `json:"ignoreDifferences"`
}

// Destination is the cluster and the namespace that an Application applies to.
type Destination struct {
	Server    string `json:"server"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// The name and the server of the cluster that Argo CD runs in.
const (
	InCluster       = "in-cluster"
	InClusterServer = "https://kubernetes.default.svc"
)

// Cluster returns the cluster of a destination. own is the cluster of the Application.
func (d Destination) Cluster(own string) string {
	if d.IsInCluster() || d == (Destination{Namespace: d.Namespace}) {
		return own
	}
	return cmp.Or(d.Name, d.Server)
}

// IsInCluster reports whether a destination is the cluster that Argo CD runs in.
func (d Destination) IsInCluster() bool { return d.Name == InCluster || d.Server == InClusterServer }

// SyncPolicy configures how an Application is applied.
type SyncPolicy struct {
	Automated *struct {
		Prune      bool  `json:"prune"`
		SelfHeal   bool  `json:"selfHeal"`
		AllowEmpty bool  `json:"allowEmpty"`
		Enabled    *bool `json:"enabled"`
	} `json:"automated"`
	Retry *struct {
		Limit   int64 `json:"limit"`
		Backoff *struct {
			Duration    string `json:"duration"`
			Factor      *int64 `json:"factor"`
			MaxDuration string `json:"maxDuration"`
		} `json:"backoff"`
	} `json:"retry"`
	SyncOptions              []string `json:"syncOptions"`
	ManagedNamespaceMetadata *struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"managedNamespaceMetadata"`
}

// Source is a source of an Application.
type Source struct {
	RepoURL        string           `json:"repoURL"`
	Path           string           `json:"path,omitempty"`
	TargetRevision string           `json:"targetRevision,omitempty"`
	Helm           *Helm            `json:"helm,omitempty"`
	Kustomize      *Kustomize       `json:"kustomize,omitempty"`
	Directory      *Directory       `json:"directory,omitempty"`
	Plugin         *json.RawMessage `json:"plugin,omitempty"`
	Chart          string           `json:"chart,omitempty"`
	Ref            string           `json:"ref,omitempty"`
}

// Helm are the options of a chart.
type Helm struct {
	ValueFiles              []string        `json:"valueFiles,omitempty"`
	Parameters              []Parameter     `json:"parameters,omitempty"`
	ReleaseName             string          `json:"releaseName,omitempty"`
	Values                  string          `json:"values,omitempty"`
	FileParameters          []FileParameter `json:"fileParameters,omitempty"`
	IgnoreMissingValueFiles bool            `json:"ignoreMissingValueFiles,omitempty"`
	SkipCrds                bool            `json:"skipCrds,omitempty"`
	SkipTests               bool            `json:"skipTests,omitempty"`
	SkipSchemaValidation    bool            `json:"skipSchemaValidation,omitempty"`
	ValuesObject            json.RawMessage `json:"valuesObject,omitempty"`
	Namespace               string          `json:"namespace,omitempty"`
	KubeVersion             string          `json:"kubeVersion,omitempty"`
	APIVersions             []string        `json:"apiVersions,omitempty"`
	Version                 string          `json:"version,omitempty"`
	PassCredentials         bool            `json:"passCredentials,omitempty"`
}

// Parameter is a value of a chart, like a `--set` option.
type Parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString,omitempty"`
}

// FileParameter is a value of a chart that is read from a file.
type FileParameter struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Kustomize are the options of a kustomization.
type Kustomize struct {
	NamePrefix                string            `json:"namePrefix,omitempty"`
	NameSuffix                string            `json:"nameSuffix,omitempty"`
	Images                    []string          `json:"images,omitempty"`
	CommonLabels              map[string]string `json:"commonLabels,omitempty"`
	CommonAnnotations         map[string]string `json:"commonAnnotations,omitempty"`
	ForceCommonLabels         bool              `json:"forceCommonLabels,omitempty"`
	ForceCommonAnnotations    bool              `json:"forceCommonAnnotations,omitempty"`
	CommonAnnotationsEnvsubst bool              `json:"commonAnnotationsEnvsubst,omitempty"`
	LabelWithoutSelector      bool              `json:"labelWithoutSelector,omitempty"`
	LabelIncludeTemplates     bool              `json:"labelIncludeTemplates,omitempty"`
	Namespace                 string            `json:"namespace,omitempty"`
	Replicas                  []Replica         `json:"replicas,omitempty"`
	Patches                   []json.RawMessage `json:"patches,omitempty"`
	Components                []string          `json:"components,omitempty"`
	IgnoreMissingComponents   bool              `json:"ignoreMissingComponents,omitempty"`
	KubeVersion               string            `json:"kubeVersion,omitempty"`
	APIVersions               []string          `json:"apiVersions,omitempty"`
	Version                   string            `json:"version,omitempty"`
}

// Replica is the number of replicas of a workload.
type Replica struct {
	Name  string             `json:"name"`
	Count intstr.IntOrString `json:"count"`
}

// Directory are the options of a directory of manifests.
type Directory struct {
	Recurse                bool    `json:"recurse,omitempty"`
	Include                string  `json:"include,omitempty"`
	Exclude                string  `json:"exclude,omitempty"`
	DisableExtensionFilter bool    `json:"disableExtensionFilter,omitempty"`
	Jsonnet                Jsonnet `json:"jsonnet,omitzero"`
}

// Jsonnet are the options of Jsonnet.
type Jsonnet struct {
	ExtVars []JsonnetVar `json:"extVars,omitempty"`
	TLAs    []JsonnetVar `json:"tlas,omitempty"`
	Libs    []string     `json:"libs,omitempty"`
}

// JsonnetVar is a variable of Jsonnet.
type JsonnetVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Code  bool   `json:"code,omitempty"`
}

// Parse reads an Application.
func Parse(object json.RawMessage) (*Application, error) {
	a := &Application{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, a); err != nil {
		return nil, fmt.Errorf("not an Application of Argo CD: %w", err)
	}
	return a, nil
}

// AllSources returns the sources of an Application: spec.sources, or else spec.source. Like the controller, it drops
// empty options of a tool.
func (a *Application) AllSources() []Source {
	all := a.Spec.Sources
	if len(all) == 0 && a.Spec.Source != nil {
		all = []Source{*a.Spec.Source}
	}
	all = slices.Clone(all)
	for i := range all {
		s := &all[i]
		if s.Helm != nil && reflect.ValueOf(*s.Helm).IsZero() {
			s.Helm = nil
		}
		if s.Kustomize != nil && reflect.ValueOf(*s.Kustomize).IsZero() {
			s.Kustomize = nil
		}
		if s.Directory != nil && reflect.ValueOf(*s.Directory).IsZero() {
			s.Directory = nil
		}
	}
	return all
}

// DefaultProject is the AppProject of Applications that name none. Argo CD creates it and lets it permit everything.
const DefaultProject = "default"

// Project returns the AppProject of an Application.
func (a *Application) Project() string { return cmp.Or(a.Spec.Project, DefaultProject) }

// SourceField returns the path of a source in the object.
func (a *Application) SourceField(i int) string {
	if len(a.Spec.Sources) > 0 {
		return fmt.Sprintf("spec.sources[%d]", i)
	}
	return "spec.source"
}

// Invalid returns the error in an Application by itself, and its field.
func (a *Application) Invalid() (field, why string) {
	sources, seen := a.AllSources(), map[string]bool{"": true}
	if len(sources) == 0 {
		return "spec", "the Application names no source: it needs spec.source or spec.sources"
	}
	for i := range sources {
		if ref := sources[i].Ref; ref != "" && seen[ref] {
			return a.SourceField(i) + ".ref", "invalid sources: multiple sources had the same `ref` key"
		}
		seen[sources[i].Ref] = true
	}
	if d := a.Spec.Destination; d.Name != "" && d.Server != "" {
		return "spec.destination", fmt.Sprintf("application destination can't have both name and server defined: %s %s", d.Name, d.Server)
	}
	return "", ""
}

// HasPlugin reports whether a config management plugin renders a source.
func (a *Application) HasPlugin() bool {
	return slices.ContainsFunc(a.AllSources(), func(s Source) bool { return s.Plugin != nil })
}

// KustomizeVersion returns the first version of kustomize that a source selects, and its field; empty for none.
func (a *Application) KustomizeVersion() (field, version string) {
	for i, s := range a.AllSources() {
		if s.Kustomize != nil && s.Kustomize.Version != "" {
			return a.SourceField(i) + ".kustomize.version", s.Kustomize.Version
		}
	}
	return "", ""
}

// GitRevision returns the target revision in the form used by a git artifact.
func (s *Source) GitRevision() string {
	if s.TargetRevision == "HEAD" {
		return ""
	}
	return s.TargetRevision
}

// IsOfBranch reports whether the target revision is the judged branch: one of its names, or else one of the usual
// names.
func (s *Source) IsOfBranch(names []string) bool {
	revision := strings.TrimPrefix(s.TargetRevision, "refs/heads/")
	switch {
	case revision == "" || revision == "HEAD":
		return true
	case len(names) > 0:
		return slices.Contains(names, revision)
	}
	return revision == "main" || revision == "master"
}

// IsReference reports whether a source only has files for other sources.
func (s *Source) IsReference() bool { return s.Ref != "" && s.Path == "" && s.Chart == "" }

// HasOption reports whether an option of syncPolicy is set.
func (s *Spec) HasOption(option string) bool {
	return s.SyncPolicy != nil && slices.Contains(s.SyncPolicy.SyncOptions, option)
}

// Decides reports whether a field of an Application influences what it applies, or where. Other fields may contain a
// variable on purpose: options those of Argo CD's build environment, and values those of programs.
func Decides(path []string) bool {
	if len(path) < 2 || path[0] != "spec" {
		return len(path) == 2 && (path[1] == "name" || path[1] == "namespace")
	}
	switch path[1] {
	case "project":
		return true
	case "source", "destination":
		return len(path) == 3
	case "sources":
		return len(path) == 4
	}
	return false
}
