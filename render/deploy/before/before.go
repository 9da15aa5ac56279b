// Package before has what clusters have from before a change, which the tree of its head does not hold.
package before

import (
	"encoding/json"

	"github.com/preadmit/preadmit/render"
)

// State is what is known of clusters from before a change.
type State interface {
	// Kept returns the custom kinds whose definitions stay in a cluster although the tree does not have them.
	Kept(cluster string) []render.Definition
	// Applied returns those of the custom kinds in crds/ of a release's chart that its cluster has once it is applied.
	Applied(release render.Root, all []render.Definition) []render.Definition
	// Application returns an Application of Argo CD as it was before, nil where that is what it is now or it was not there.
	Application(cluster string, object render.ObjectRef, now json.RawMessage) json.RawMessage
	// Deletes reports whether the change deletes an object of a cluster, so that nothing has it.
	Deletes(cluster string, object render.ObjectRef) bool
}

// Nothing is the state of a tree by itself.
type Nothing struct{}

// Kept returns none.
func (Nothing) Kept(string) []render.Definition { return nil }

// Applied returns all.
func (Nothing) Applied(_ render.Root, all []render.Definition) []render.Definition { return all }

// Application returns none.
func (Nothing) Application(string, render.ObjectRef, json.RawMessage) json.RawMessage { return nil }

// Deletes reports that nothing is deleted.
func (Nothing) Deletes(string, render.ObjectRef) bool { return false }
