package render

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gobwas/glob"

	"github.com/preadmit/preadmit/render/origin"
)

// Unit is what a deployer adds to a root: the object in a cluster that has something
// applied, and how it is applied. Everything that decides what the root renders to, beside
// the files of the tree, is in it.
type Unit struct {
	// Object is the object that asks for the root, as its parent renders it, in JSON. It is
	// what the deployer sees in the cluster. Of an entry point that the repository does not
	// hold (it is made by `flux bootstrap`) it is what follows from where it is.
	Object json.RawMessage
	// Parent is the root that renders Object, and Index the place of Object there. Of an entry
	// point it is a root that no unit applies, or that the unit applies itself; zero when the
	// repository does not hold the object. Parent.Object is set when another unit applies it.
	Parent RootID
	Index  int
	// Entry is set for an entry point: what nothing in the repository applies but itself.
	Entry bool
	// Cluster is the cluster that the objects are applied to: that of the root's identity, as a
	// rule. A unit that names a kubeconfig applies to another one, which is called after the
	// Secret it is in. Objects of units with the same Cluster live beside each other.
	Cluster string
	// Apply is how the objects are applied.
	Apply Apply
	// Checkout is what part of the tree the deployer sees.
	Checkout Checkout
	// Variables are substituted in the objects, in the order of their names. They are
	// resolved: those of ConfigMaps and Secrets are in it. One without a name stands for all
	// that have no other value: what may define them is not in the repository.
	Variables []Variable
	// Inputs are those that other objects provide to a ResourceSet, in the order in which they
	// are used.
	Inputs []Input
	// Release is what a HelmRelease is made of; nil for other units.
	Release *Release
	// Application is what an Application of Argo CD is made of; nil for other units.
	Application *Application
	// Strict is set when a variable without a value fails the unit. Else it is empty.
	Strict bool
	// Problem is why the unit cannot be rendered, although its object asks for it: what it is
	// made of is not in the repository, it reaches out of it, or its object is not valid. A root
	// with such a unit renders to this Problem and nothing else.
	Problem *Problem
	// Artifact is what the unit is made of when that is not this repository; nil when it is.
	// Checkout is a part of its files then, and the directory that the unit's object names is
	// one of them, while that of the root is its parent's. Problem says when it is not there.
	Artifact *Artifact
	// Revision are the fields of the source's object that say which artifact it is, those that
	// decide first.
	Revision []FieldRef `json:"-"`
	// Origins returns where an object that a root of the same tree renders was written: that
	// of Parent with Index for Object, those of Variables for ConfigMaps and Secrets. It is nil
	// when nobody knows. It is how lines are followed, and decides nothing.
	Origins func(ctx context.Context, root RootID, index int) (*origin.Origin, error) `json:"-"`
}

// ofAnyVersion is the unit without the version of the cluster.
func (u *Unit) ofAnyVersion() *Unit {
	unit := *u
	if u.Application != nil {
		application := *u.Application
		application.KubeVersion = ""
		unit.Application = &application
	}
	if u.Release != nil {
		release := *u.Release
		release.KubeVersion = ""
		unit.Release = &release
	}
	return &unit
}

// madeOf are the roots that render what a unit is made of.
func (u *Unit) madeOf() []RootID {
	if u == nil {
		return nil
	}
	roots := []RootID{u.Parent}
	for _, v := range u.Variables {
		roots = append(roots, v.Written.Root)
	}
	for _, in := range u.Inputs {
		roots = append(roots, in.Written.Root)
	}
	for _, f := range u.Revision {
		roots = append(roots, f.Root)
	}
	if u.Release != nil {
		for _, f := range u.Release.Named {
			roots = append(roots, f.Root)
		}
		for _, r := range u.Release.References {
			roots = append(roots, r.Written.Root)
		}
	}
	return roots
}

// kubeVersion is the version of Kubernetes that a chart sees; empty for none.
func (u *Unit) kubeVersion() string {
	if u == nil || u.Release == nil {
		return ""
	}
	return u.Release.KubeVersion
}

// IsElsewhere reports whether a unit is made of an artifact that is there.
func (u *Unit) IsElsewhere() bool {
	return u != nil && u.Artifact != nil && u.Problem == nil && u.Release == nil && u.Application == nil
}

// Position returns where a field of the object that asks for the root is written, or the
// object itself, as far as that can be told; the parent's directory at least.
func (u *Unit) Position(ctx context.Context, path string) Position {
	return u.Place(ctx, path).Position
}

// Place returns where a field of the object that asks for the root is written, as Position does, and
// how that is known.
func (u *Unit) Place(ctx context.Context, path string) origin.Place {
	if u.Origins != nil && u.Parent != (RootID{}) {
		if o, err := u.Origins(ctx, u.Parent, u.Index); err == nil && o != nil {
			return o.Place(path, origin.Whole)
		}
	}
	return origin.Place{Position: Position{Path: u.Parent.Dir}}
}

// FirstPosition returns where the first of some fields is written that the repository has.
func (u *Unit) FirstPosition(ctx context.Context, fields []FieldRef) (at Position, ok bool) {
	for _, field := range fields {
		if u.Origins == nil || field.Root == (RootID{}) {
			continue
		}
		if o, err := u.Origins(ctx, field.Root, field.Index); err == nil && o != nil {
			if place := o.Place(field.Path, origin.Whole); place.Found() {
				return place.Position, true
			}
		}
	}
	return Position{}, false
}

// Apply is how a deployer applies the objects of a unit.
type Apply struct {
	// Suspended units apply nothing and delete nothing, now and when they go.
	Suspended bool
	// Prune is set when an object that is no longer rendered is deleted.
	Prune bool
	// DeletionPolicy is what becomes of the objects when the unit's object is deleted: one of
	// MirrorPrune (as Prune says), Delete, WaitForTermination (deleted) and Orphan (they stay).
	// It is never empty.
	DeletionPolicy string
	// User is the user of the requests to the API server: the name of a service account, as
	// system:serviceaccount:NAMESPACE:NAME, or empty for that of the deployer itself.
	User string
	// Force is set when an object with a changed immutable field is deleted and made again.
	Force bool
	// SyncOptions are the options by which Argo CD applies the objects, as ServerSideApply=true.
	SyncOptions []string
	// Ignored are the fields that updates leave as they are in the cluster.
	Ignored []Ignored
}

// Deletes reports whether the objects are deleted when the unit's object is.
func (a Apply) Deletes() bool {
	switch {
	case a.Suspended:
		return false
	case a.DeletionPolicy == "Orphan":
		return false
	case a.DeletionPolicy == "MirrorPrune":
		return a.Prune
	}
	return true
}

// Ignored is a field that Argo CD leaves as it is in the cluster when it updates an object: one that
// spec.ignoreDifferences of an Application names where the Application is synchronized with
// RespectIgnoreDifferences=true.
type Ignored struct {
	// Group and Kind are patterns of the objects' kind, in which * stands for any text. Namespace
	// and Name are those of one object, or empty for any.
	Group, Kind, Namespace, Name string
	// Path leads to the field, with AnyItem for all items of a list and all keys of a mapping. It is
	// empty where it is not known which fields of the object it is.
	Path []string
	// Exact is set when the field is ignored whatever the object has.
	Exact bool
	// Reason says why the value is not known, as that of Unknown does.
	Reason string
}

// AnyItem is the step of a path that leads to all items.
const AnyItem = "[]"

// Matches reports whether the field is one of an object. Like Argo CD it takes a pattern that is
// none for one that matches nothing (util/glob, Match).
func (i *Ignored) Matches(group, kind, namespace, name string) bool {
	matches := func(pattern, value string) bool {
		g, err := glob.Compile(pattern)
		return err == nil && g.Match(value)
	}
	return matches(i.Group, group) && matches(i.Kind, kind) &&
		(i.Namespace == "" || i.Namespace == namespace) && (i.Name == "" || i.Name == name)
}

// Checkout is the part of a tree that a deployer sees, in its own place.
type Checkout struct {
	// Top is the directory that is the top of what it sees; "." for all of the tree.
	Top string
	// Source is the directory that is the top of the source, of which all below Top is a part: patterns count from
	// there. It is Top where it is empty.
	Source string
	// Only are directories and files, everything outside of which is left out; none for all below
	// Top.
	Only []string
	// Ignore are patterns of a source's spec.ignore, in the format of gitignore, with which
	// files are left out beside those that .sourceignore files name. HasIgnore is set when
	// there is such a field, even an empty one.
	Ignore    string
	HasIgnore bool
	// Revision is the branch of this repository that the source follows, as far as it says.
	Revision string
}

// Same reports whether two checkouts see the same of a tree.
func (c Checkout) Same(other Checkout) bool {
	return c.Top == other.Top && c.Source == other.Source && c.Revision == other.Revision && c.Ignore == other.Ignore && c.HasIgnore == other.HasIgnore && slices.Equal(c.Only, other.Only)
}

// Variable is a variable that is substituted in the objects of a unit.
type Variable struct {
	Name string
	// Value is the value as it is substituted. It is empty when it is not known.
	Value string
	// Unknown says why the value is not known: it is encrypted, or what holds it is not in the
	// repository. It is empty for a known one.
	Unknown string
	// Written is the field that holds the value: of the unit's own object, or of a
	// ConfigMap or Secret.
	Written FieldRef
}

// Input is a set of inputs of a ResourceSet.
type Input struct {
	// Provider has them, and Values are the inputs in JSON.
	Provider ObjectRef
	Values   json.RawMessage
	// Written is the field that holds them.
	Written FieldRef
}

// FieldRef is a field of an object that a root renders.
type FieldRef struct {
	// Root renders the object, and Index is its place there. It is zero when the
	// repository does not hold the object.
	Root  RootID
	Index int
	// Path is the field, as in origin.Origin.Find.
	Path string
}

// ignoredFields are those of the spec of a unit's object that decide nothing about what
// is applied, only when.
var ignoredFields = [...]string{"interval", "retryInterval", "timeout", "wait", "healthChecks", "healthCheckExprs", "dependsOn"}

// Same reports whether two units render the same of the same files, and apply it in the
// same way. Both may be nil.
func (u *Unit) Same(other *Unit) bool {
	if u == nil || other == nil {
		return u == other
	}
	return slices.Equal(u.words(), other.words()) &&
		(bytes.Equal(u.Object, other.Object) || bytes.Equal(u.decisive(), other.decisive()))
}

// words are all that decides what the unit renders to and how it is applied, but for its
// object.
func (u *Unit) words() []string {
	if u == nil {
		return nil
	}
	words := []string{u.Cluster, u.Checkout.Top, u.Checkout.Source, u.Checkout.Revision, u.Checkout.Ignore, strconv.FormatBool(u.Checkout.HasIgnore), strconv.FormatBool(u.Strict)}
	words = append(words, u.Checkout.Only...)
	apply, _ := json.Marshal(u.Apply) // strings and booleans
	words = append(words, string(apply))
	words = append(words, u.Release.words()...)
	words = append(words, u.Application.words()...)
	for _, v := range u.Variables {
		words = append(words, v.Name, v.Value, v.Unknown)
	}
	for _, in := range u.Inputs {
		words = append(words, in.Provider.String(), string(in.Values))
	}
	if u.Problem != nil {
		words = append(words, u.Problem.Message)
	}
	if u.Artifact != nil {
		words = append(words, u.Artifact.Asked().String(), strconv.FormatBool(u.Artifact.Submodules))
	}
	return words
}

// decisive is the unit's object without what decides nothing.
func (u *Unit) decisive() []byte {
	var o struct {
		APIVersion string `json:"apiVersion"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Spec map[string]any `json:"spec"`
	}
	decoder := json.NewDecoder(bytes.NewReader(u.Object))
	decoder.UseNumber()
	if decoder.Decode(&o) != nil {
		return u.Object
	}
	for _, name := range ignoredFields {
		delete(o.Spec, name)
	}
	if o.Spec != nil && strings.HasPrefix(o.APIVersion, "kustomize.toolkit.fluxcd.io/") {
		dir, _ := o.Spec["path"].(string)
		o.Spec["path"] = path.Clean("/" + dir) // however it is spelled
	}
	data, err := json.Marshal(o)
	if err != nil {
		return u.Object
	}
	return data
}
