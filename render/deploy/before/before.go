// Package before describes the state of clusters before a change, as far as the tree of the head does not contain it.
package before

import (
	"encoding/json"

	"github.com/preadmit/preadmit/render"
)

// State is the state of clusters before a change.
type State interface {
	// Kept returns the custom kinds whose definitions are not in the tree, but stay in a cluster.
	Kept(cluster string) []render.Definition
	// Applied returns the custom kinds in crds/ of a release's chart that its cluster has after the release is applied.
	Applied(release render.Root, all []render.Definition) []render.Definition
	// Application returns the version before the change of an Application of Argo CD; nil if it is equal or did not exist.
	Application(cluster string, object render.ObjectRef, now json.RawMessage) json.RawMessage
	// Deletes reports whether the change deletes an object of a cluster.
	Deletes(cluster string, object render.ObjectRef) bool
}

// Nothing is the State of clusters without anything from before.
type Nothing struct{}

// Kept implements State.
func (Nothing) Kept(string) []render.Definition { return nil }

// Applied implements State: it returns all.
func (Nothing) Applied(_ render.Root, all []render.Definition) []render.Definition { return all }

// Application implements State.
func (Nothing) Application(string, render.ObjectRef, json.RawMessage) json.RawMessage { return nil }

// Deletes implements State.
func (Nothing) Deletes(string, render.ObjectRef) bool { return false }
