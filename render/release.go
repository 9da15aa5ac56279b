package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// Release is the resolved input of a HelmRelease, in addition to its object: the chart, the sources of its values, and
// what the chart sees of the cluster.
type Release struct {
	// Chart is the chart's archive, as it is referred to, and Digest the digest of its bytes. They are zero for a chart
	// in a directory.
	Chart  artifact.Artifact
	Digest string
	// Named are the fields that name the chart; the one with its version comes first.
	Named []FieldRef `json:"-"`
	// Dir is the directory of the chart in its source: in this repository, where it is also the root's directory, or in
	// the unit's artifact.
	Dir string
	// Dependencies are the dependencies of a chart in a directory that are not in its charts/.
	Dependencies []Dependency
	// ValuesFiles are the files with the chart's default values, instead of its values.yaml: in the chart or, for a
	// chart of the tree, in the checkout.
	ValuesFiles []string
	// IgnoreMissing skips those ValuesFiles that do not exist.
	IgnoreMissing bool
	// VersionPart is an unknown suffix that Flux adds to the version of the chart; empty for none.
	VersionPart string `json:",omitempty"`
	// References are the values of valuesFrom, in order, without optional ones that are missing.
	References []Reference
	// Upgrade is set when the cluster already has the release.
	Upgrade bool
	// ChartName is the name in the chart's Chart.yaml, if it is known.
	ChartName string `json:"-"`
	// Reinstalled is the reason why the existing release is uninstalled and this one installed; empty if it is
	// upgraded, or there is none.
	Reinstalled string `json:",omitempty"`
	// NoDeletionHooks disables the hooks when the release is uninstalled.
	NoDeletionHooks bool `json:",omitempty"`
	// Install and Reapply are the policies for the definitions in crds/ of the chart when the release is installed and
	// upgraded: Skip, Create or CreateReplace.
	Install, Reapply string
	// CreateNamespace is set when Helm creates the Namespace of the release, or has created it, if it does not exist.
	CreateNamespace bool `json:",omitempty"`
	// KubeVersion is the version of the cluster.
	KubeVersion string
	// Definitions are the custom kinds of the cluster that the chart may look up or define.
	Definitions []Definition
	// KindsKnown is set when the cluster serves no other custom kinds that the chart looks up than Definitions.
	KindsKnown bool `json:",omitempty"`
	// Lookups are the known results of the chart's lookups in the cluster.
	Lookups []Lookup `json:",omitempty"`
	// Unknown are the unknown fields of the unit's object.
	Unknown []Unknown
	// Own is set for a chart of the repository that is installed with Helm alone, Configured for one that the
	// configuration lists.
	Own        bool
	Configured bool `json:"-"`
}

// Dependency is a dependency of a chart in a directory.
type Dependency struct {
	// Chart is the dependency's archive, and Digest the digest of its bytes.
	Chart  artifact.Artifact
	Digest string
	// Dir is a directory of the same source, if the dependency is not an archive.
	Dir string
}

// CRDs returns the policy for the definitions in crds/ of the chart: Skip, Create or CreateReplace.
func (r *Release) CRDs() string {
	if r.Upgrade {
		return r.Reapply
	}
	return r.Install
}

// Reference is an entry of valuesFrom.
type Reference struct {
	// Object is the ConfigMap or Secret that holds the values at a key.
	Object ObjectRef
	// Data are the values; empty if nothing of them is known.
	Data string
	// TargetPath and Literal are the fields of the entry.
	TargetPath string
	Literal    bool
	// Unknown is the reason why the values are not known; empty if they are.
	Unknown string
	// Holds are the unknown parts of Data, if the others are known.
	Holds []string `json:",omitempty"`
	// File is the file that holds them, for a chart that is installed with Helm alone.
	File string
	// Written is the field of Object that holds the values.
	Written FieldRef `json:"-"`
}

// With returns the values with replacements for the unknown parts.
func (r Reference) With(text func(part string) string) string {
	var pairs []string
	for _, part := range r.Holds {
		pairs = append(pairs, part, text(part))
	}
	return strings.NewReplacer(pairs...).Replace(r.Data)
}

// Query is a lookup of a chart in a cluster: of an object or, without a name, of a list.
type Query struct{ APIVersion, Kind, Namespace, Name string }

// Lookup is the result of a Query.
type Lookup struct {
	Query
	// Found is the object or list in JSON; empty if there is none.
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

// APIVersions returns the versions, and the kinds in versions, in the form in which charts look them up.
func (d Definition) APIVersions() []string {
	var all []string
	for _, v := range d.Versions {
		all = append(all, d.Group+"/"+v, d.Group+"/"+v+"/"+d.Kind)
	}
	return all
}

// DefinitionOf returns the custom kind of a CustomResourceDefinition; ok is false for other objects.
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

// words returns everything that decides what the release renders to.
func (r *Release) words() []string {
	if r == nil {
		return nil
	}
	text, _ := json.Marshal(r) // strings and booleans
	return []string{string(text)}
}

// Hook describes when Helm or Argo CD creates and deletes a hook. Its owner is the release or Application.
type Hook struct {
	// Ran is set for a hook that was created each time its owner was applied before, if it was.
	Ran bool `json:",omitempty"`
	// OnDeletion is set for a hook that is created when its owner is deleted.
	OnDeletion bool `json:",omitempty"`
	// Replaced is set for a hook that is deleted, if it exists, before it is created again.
	Replaced bool `json:",omitempty"`
	// Repeated is set for a hook that is created several times when its owner is applied, because it runs at several
	// events of one action. RepeatedOnDeletion is the same for when its owner is deleted.
	Repeated           bool `json:",omitempty"`
	RepeatedOnDeletion bool `json:",omitempty"`
	// Removed is set for a hook that is deleted after it has succeeded.
	Removed bool `json:",omitempty"`
	// Applied is set for a hook with server-side apply: if it exists and is not Replaced, it is updated.
	Applied bool `json:",omitempty"`
	// Updated is set for a hook that is updated if it exists.
	Updated bool `json:",omitempty"`
	// Finalizer is a finalizer that the deployer adds to the object until the hook has finished.
	Finalizer string `json:",omitempty"`
}

// Role is the role of an object for its deployer.
type Role string

const (
	// RoleObject is an object that is applied and kept.
	RoleObject Role = ""
	// RoleHook is a hook that Helm creates while it installs or upgrades a release, or Argo CD in a sync. It is not one
	// of the applied objects.
	RoleHook Role = "hook"
	// RoleIdleHook is a hook of another event: a test, a deletion, a rollback, a failed sync.
	RoleIdleHook Role = "idle hook"
	// RoleNamespace is the Namespace of an Application's destination, which a sync creates if it does not exist, or
	// whose labels it manages, or the Namespace of a release, which Helm creates if it does not exist.
	RoleNamespace Role = "namespace"
	// RolePossible is an object that may not exist: a chart makes it at random, or depending on a lookup.
	RolePossible Role = "possible"
	// RoleDefinition is a CustomResourceDefinition in crds/ of a chart.
	RoleDefinition Role = "definition"
)
