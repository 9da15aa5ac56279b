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

// Unit is what a deployer adds to a root: the object in a cluster that defines the root, and how the root is applied.
// Together with the files of the tree, it decides everything that the root renders to.
type Unit struct {
	// Object is the object that defines the root, in JSON, as its parent renders it and the deployer sees it in the
	// cluster. For an entry point whose object is not in the repository (`flux bootstrap` creates it), it is derived
	// from the directory.
	Object json.RawMessage
	// Parent is the root that renders Object, and Index the index of Object there. For an entry point, it is a root
	// that no unit applies, or that the unit itself applies; zero if the repository does not contain the object.
	// Parent.Object is set when another unit applies it.
	Parent RootID
	Index  int
	// Entry is set for an entry point: a unit that nothing in the repository applies but itself.
	Entry bool
	// Cluster is the cluster that the objects are applied to, usually that of the root's identity. A unit with a
	// kubeconfig applies to another cluster, which is named after the kubeconfig's Secret. Units with the same Cluster
	// share its objects.
	Cluster string
	// Apply is how the objects are applied.
	Apply Apply
	// Checkout is the part of the tree that the deployer sees.
	Checkout Checkout
	// Variables are substituted in the objects, in the order of their names. Those of ConfigMaps and Secrets are
	// included. One without a name stands for all other variables, because an object that may define them is not in the
	// repository.
	Variables []Variable
	// Inputs are the inputs that other objects provide to a ResourceSet, in the order of use.
	Inputs []Input
	// Release is the input of a HelmRelease; nil for other units.
	Release *Release
	// Application is the input of an Application of Argo CD; nil for other units.
	Application *Application
	// Strict is set when the unit fails for a variable without a value. Otherwise such a variable is empty.
	Strict bool
	// Problem is the reason why the unit cannot be rendered: its source is not in the repository, it reaches out of it,
	// or its object is not valid. A root with such a unit renders to this Problem and nothing else.
	Problem *Problem
	// Artifact is the unit's source if it is not this repository; nil otherwise. Checkout is then a part of the
	// artifact's files and contains the directory that the unit's object names, while the root's directory is that of
	// its parent. If the artifact is missing, Problem is set.
	Artifact *Artifact
	// Revision are the fields of the source's object that select the revision of the artifact; those with precedence
	// come first.
	Revision []FieldRef `json:"-"`
	// Origins returns where an object that a root of the same tree renders was written: for Object, with Parent and
	// Index, and for the ConfigMaps and Secrets of Variables. It is nil if that is not known. It is used to find lines
	// and has no influence on results.
	Origins func(ctx context.Context, root RootID, index int) (*origin.Origin, error) `json:"-"`
}

// ofAnyVersion returns the unit without the version of the cluster.
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

// madeOf returns the roots that render the inputs of a unit.
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

// kubeVersion returns the version of Kubernetes that a chart sees; empty for none.
func (u *Unit) kubeVersion() string {
	if u == nil || u.Release == nil {
		return ""
	}
	return u.Release.KubeVersion
}

// IsElsewhere reports whether the source of a unit is an artifact that was fetched.
func (u *Unit) IsElsewhere() bool {
	return u != nil && u.Artifact != nil && u.Problem == nil && u.Release == nil && u.Application == nil
}

// Position returns where a field of the unit's object is written, or else the object itself, or at least the directory
// of the parent.
func (u *Unit) Position(ctx context.Context, path string) Position {
	return u.Place(ctx, path).Position
}

// Place returns where a field of the unit's object is written, as Position does, and how that is known.
func (u *Unit) Place(ctx context.Context, path string) origin.Place {
	if u.Origins != nil && u.Parent != (RootID{}) {
		if o, err := u.Origins(ctx, u.Parent, u.Index); err == nil && o != nil {
			return o.Place(path, origin.Whole)
		}
	}
	return origin.Place{Position: Position{Path: u.Parent.Dir}}
}

// FirstPosition returns where the first of the fields that exist in the repository is written.
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
	// Suspended is set when nothing is applied or deleted, not even when the unit's object is deleted.
	Suspended bool
	// Prune is set when an object that is no longer rendered is deleted.
	Prune bool
	// DeletionPolicy decides what happens to the objects when the unit's object is deleted: MirrorPrune (deleted if
	// Prune is set), Delete, WaitForTermination (deleted) or Orphan (kept). It is never empty.
	DeletionPolicy string
	// User is the user of the requests to the API server: a service account, as system:serviceaccount:NAMESPACE:NAME,
	// or empty for the user of the deployer itself.
	User string
	// Force is set when an object with a changed immutable field is deleted and created again.
	Force bool
	// SyncOptions are the sync options of Argo CD, for example ServerSideApply=true.
	SyncOptions []string
	// Ignored are the fields that updates do not change in the cluster.
	Ignored []Ignored
}

// Deletes reports whether the objects are deleted when the unit's object is deleted.
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

// Ignored is a field that Argo CD does not change when it updates an object: a field of spec.ignoreDifferences of an
// Application that is synchronized with RespectIgnoreDifferences=true.
type Ignored struct {
	// Group and Kind are patterns for the objects' group and kind, in which * matches any text. Namespace and Name
	// select one object; empty matches any.
	Group, Kind, Namespace, Name string
	// Path is the path of the field, with AnyItem for all items of a list and all keys of a mapping. It is empty if it
	// is not known which fields of the object are ignored.
	Path []string
	// Exact is set when the field is ignored whatever the content of the object.
	Exact bool
	// Reason is the reason why the value is not known, as in Unknown.
	Reason string
}

// AnyItem is the step of a path that stands for all items.
const AnyItem = "[]"

// Matches reports whether the field is one of an object. An invalid pattern matches nothing, as in Argo CD (util/glob,
// Match).
func (i *Ignored) Matches(group, kind, namespace, name string) bool {
	matches := func(pattern, value string) bool {
		g, err := glob.Compile(pattern)
		return err == nil && g.Match(value)
	}
	return matches(i.Group, group) && matches(i.Kind, kind) &&
		(i.Namespace == "" || i.Namespace == namespace) && (i.Name == "" || i.Name == name)
}

// Checkout is the part of a tree that a deployer sees, at its paths in the tree.
type Checkout struct {
	// Top is the top directory of the checkout; "." for the whole tree.
	Top string
	// Source is the top directory of the source, of which the files below Top are a part: patterns are relative to it.
	// Empty means Top.
	Source string
	// Only are the only directories and files that the checkout contains; nil for everything below Top.
	Only []string
	// Ignore are the patterns of a source's spec.ignore, in the format of gitignore, for files to leave out in addition
	// to those of .sourceignore files. HasIgnore is set when the field exists, even if it is empty.
	Ignore    string
	HasIgnore bool
	// Revision is the branch of this repository that the source follows, if it is known.
	Revision string
}

// Same reports whether two checkouts see the same part of a tree.
func (c Checkout) Same(other Checkout) bool {
	return c.Top == other.Top && c.Source == other.Source && c.Revision == other.Revision && c.Ignore == other.Ignore && c.HasIgnore == other.HasIgnore && slices.Equal(c.Only, other.Only)
}

// Variable is a variable that is substituted in the objects of a unit.
type Variable struct {
	Name string
	// Value is the substituted value; empty if it is not known.
	Value string
	// Unknown is the reason why the value is not known: it is encrypted, or its object is not in the repository. It is
	// empty if the value is known.
	Unknown string
	// Written is the field that holds the value: of the unit's own object, or of a
	// ConfigMap or Secret.
	Written FieldRef
}

// Input is a set of inputs of a ResourceSet.
type Input struct {
	// Provider is the object that provides them, and Values are the inputs in JSON.
	Provider ObjectRef
	Values   json.RawMessage
	// Written is the field that holds them.
	Written FieldRef
}

// FieldRef is a field of an object that a root renders.
type FieldRef struct {
	// Root renders the object, and Index is its index there. They are zero if the repository does not contain the
	// object.
	Root  RootID
	Index int
	// Path is the path of the field, as in origin.Origin.Find.
	Path string
}

// ignoredFields are the fields of the spec of a unit's object that only influence when something is applied.
var ignoredFields = [...]string{"interval", "retryInterval", "timeout", "wait", "healthChecks", "healthCheckExprs", "dependsOn"}

// Same reports whether two units render the same from the same files, and apply it in the same way. Both may be nil.
func (u *Unit) Same(other *Unit) bool {
	if u == nil || other == nil {
		return u == other
	}
	return slices.Equal(u.words(), other.words()) &&
		(bytes.Equal(u.Object, other.Object) || bytes.Equal(u.decisive(), other.decisive()))
}

// words returns everything that decides what the unit renders to and how it is applied, except its object.
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
		words = append(words, u.Artifact.Requested().String(), strconv.FormatBool(u.Artifact.Submodules))
	}
	return words
}

// decisive returns the unit's object without the fields that decide nothing.
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
		o.Spec["path"] = path.Clean("/" + dir) // normalizes different spellings
	}
	data, err := json.Marshal(o)
	if err != nil {
		return u.Object
	}
	return data
}
