package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// Release is what a unit of a HelmRelease is made of beside its object: the chart, what its
// values are taken from, and what the chart sees of the cluster. All of it is resolved.
type Release struct {
	// Chart is the archive of the chart, as it is referred to, and Digest that of its bytes. It is
	// zero for a chart that is a directory.
	Chart  artifact.Artifact
	Digest string
	// Named are the fields that name the chart, the one that says its version first.
	Named []FieldRef `json:"-"`
	// Dir is the directory of the chart in its source: this repository, where it is that of the
	// root, or the unit's artifact.
	Dir string
	// Dependencies are those of a chart in a directory that are not in its charts/.
	Dependencies []Dependency
	// ValuesFiles are the files whose values are those of the chart instead of its values.yaml:
	// in the chart or, for a chart of the tree, in the checkout.
	ValuesFiles []string
	// IgnoreMissing leaves out those of ValuesFiles that are not there.
	IgnoreMissing bool
	// VersionPart is what Flux adds to the version of the chart and is not known; empty for nothing.
	VersionPart string `json:",omitempty"`
	// References are the values of valuesFrom, in their order, without those that are
	// optional and not there.
	References []Reference
	// Upgrade is set when the cluster has the release.
	Upgrade bool
	// ChartName is the name that the chart has for itself, as far as it is known.
	ChartName string `json:"-"`
	// Reinstalled says why the release that the cluster has is removed and this one installed; empty
	// where it is upgraded, or there is none.
	Reinstalled string `json:",omitempty"`
	// NoDeletionHooks leaves out the hooks of a release that is removed.
	NoDeletionHooks bool `json:",omitempty"`
	// Install and Reapply are what is done with definitions in crds/ of the chart when the release
	// is installed and upgraded: Skip, Create or CreateReplace.
	Install, Reapply string
	// CreateNamespace is set when Helm created the Namespace of the release, or creates it, where it is not there.
	CreateNamespace bool `json:",omitempty"`
	// KubeVersion is the version of the cluster.
	KubeVersion string
	// Definitions are the custom kinds of the cluster that the chart may ask for or make.
	Definitions []Definition
	// KindsKnown is set when the cluster serves no custom kinds but Definitions, as far as the chart asks for them.
	KindsKnown bool `json:",omitempty"`
	// Lookups are what the chart looks up in the cluster, as far as that is known.
	Lookups []Lookup `json:",omitempty"`
	// Unknown are the fields of the unit's object that are not known.
	Unknown []Unknown
	// Own is set for a chart of the repository that Helm installs by itself, and Configured for one
	// of which the configuration says so.
	Own        bool
	Configured bool `json:"-"`
}

// Dependency is a dependency of a chart that is a directory.
type Dependency struct {
	// Chart is an archive, and Digest that of its bytes.
	Chart  artifact.Artifact
	Digest string
	// Dir is a directory of the same source, for one that is no archive.
	Dir string
}

// CRDs is what is done with definitions in crds/ of the chart: Skip, Create or CreateReplace.
func (r *Release) CRDs() string {
	if r.Upgrade {
		return r.Reapply
	}
	return r.Install
}

// Reference is an entry of valuesFrom.
type Reference struct {
	// Object holds the values at a key. Its kind is ConfigMap or Secret.
	Object ObjectRef
	// Data are the values; they are empty when nothing of them is known.
	Data string
	// TargetPath and Literal are those of the entry.
	TargetPath string
	Literal    bool
	// Unknown says why the values are not known; it is empty for those that are.
	Unknown string
	// Holds are the parts of Data that are not known, where others are.
	Holds []string `json:",omitempty"`
	// File is the file that holds them, for a chart that Helm installs by itself.
	File string
	// Written is the field of Object that holds the values.
	Written FieldRef `json:"-"`
}

// With returns the values with other texts in the place of the parts that are not known.
func (r Reference) With(text func(part string) string) string {
	var pairs []string
	for _, part := range r.Holds {
		pairs = append(pairs, part, text(part))
	}
	return strings.NewReplacer(pairs...).Replace(r.Data)
}

// Query is what a chart looks up in a cluster: an object or, without a name, a list.
type Query struct{ APIVersion, Kind, Namespace, Name string }

// Lookup is the answer to a Query.
type Lookup struct {
	Query
	// Found is the object or list in JSON; empty for nothing.
	Found json.RawMessage `json:",omitempty"`
	// Unknown are the fields of Found that are not known.
	Unknown []Unknown `json:",omitempty"`
}

// Definition is a custom kind that a cluster serves.
type Definition struct {
	Group, Kind string
	Versions    []string
	Namespaced  bool
}

// APIVersions are the versions, and kinds in versions, of a definition as charts ask for them.
func (d Definition) APIVersions() []string {
	var all []string
	for _, v := range d.Versions {
		all = append(all, d.Group+"/"+v, d.Group+"/"+v+"/"+d.Kind)
	}
	return all
}

// DefinitionOf returns what a CustomResourceDefinition defines; ok is false for other objects.
func DefinitionOf(object []byte) (d Definition, ok bool) {
	if !bytes.Contains(object, []byte(`"CustomResourceDefinition"`)) {
		return d, false
	}
	var crd struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Group    string `json:"group"`
			Scope    string `json:"scope"`
			Names    struct{ Kind string }
			Versions []struct {
				Name   string `json:"name"`
				Served bool   `json:"served"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if json.Unmarshal(object, &crd) != nil || crd.Kind != "CustomResourceDefinition" || !strings.HasPrefix(crd.APIVersion, "apiextensions.k8s.io/") {
		return d, false
	}
	d = Definition{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Namespaced: crd.Spec.Scope == "Namespaced"}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			d.Versions = append(d.Versions, v.Name)
		}
	}
	return d, true
}

// words are all that decides what the release renders to.
func (r *Release) words() []string {
	if r == nil {
		return nil
	}
	text, _ := json.Marshal(r) // strings and booleans
	return []string{string(text)}
}

// Hook is when Helm or Argo CD creates and deletes a hook.
type Hook struct {
	// Ran is set for one that was created whenever what it belongs to was applied before, as
	// far as that was done.
	Ran bool `json:",omitempty"`
	// OnDeletion is set for one that is created when what it belongs to is deleted.
	OnDeletion bool `json:",omitempty"`
	// Replaced is set for one that is deleted, where it is there, before it is created again.
	Replaced bool `json:",omitempty"`
	// Repeated is set for one that is created several times when what it belongs to is applied, and
	// RepeatedOnDeletion for one that is when that is deleted: it runs at several events of one action.
	Repeated           bool `json:",omitempty"`
	RepeatedOnDeletion bool `json:",omitempty"`
	// Removed is set for one that is deleted when it has succeeded.
	Removed bool `json:",omitempty"`
	// Applied is set for one that is applied on the server: where it is there, and not Replaced, that updates it.
	Applied bool `json:",omitempty"`
	// Updated is set for one that is updated where it is there.
	Updated bool `json:",omitempty"`
	// Finalizer is what the deployer adds to the finalizers of the object until the hook is done.
	Finalizer string `json:",omitempty"`
}

// Role is what an object is to the deployer that applies it.
type Role string

const (
	// RoleObject is one that is applied and kept.
	RoleObject Role = ""
	// RoleHook is one that Helm creates while it installs or upgrades a release, or Argo CD in a
	// sync, and that is no part of what is applied.
	RoleHook Role = "hook"
	// RoleIdleHook is a hook of another event: a test, a deletion, a rollback, a sync that fails.
	RoleIdleHook Role = "idle hook"
	// RoleNamespace is the Namespace of the destination of an Application, which a sync creates where it
	// is not there, or keeps the labels of, or that of a release, which Helm creates then.
	RoleNamespace Role = "namespace"
	// RolePossible is one of which it is not known whether there is one: a chart makes it by chance, or
	// by what it looks up.
	RolePossible Role = "possible"
	// RoleDefinition is a CustomResourceDefinition in crds/ of a chart.
	RoleDefinition Role = "definition"
)
