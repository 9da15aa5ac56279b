package origin

import (
	"github.com/preadmit/preadmit/render/tree"
)

// StepKind is the kind of change that wrote a field. The kinds of transformers have the names of fields of a
// kustomization.
type StepKind string

// The kinds of changes.
const (
	StepResource          StepKind = "resource"
	StepGenerator         StepKind = "generator"
	StepPatch             StepKind = "patch"
	StepReplacement       StepKind = "replacement" // the field that was copied
	StepNamespace         StepKind = "namespace"
	StepNamePrefix        StepKind = "namePrefix"
	StepNameSuffix        StepKind = "nameSuffix"
	StepLabels            StepKind = "labels"
	StepCommonLabels      StepKind = "commonLabels"
	StepCommonAnnotations StepKind = "commonAnnotations"
	StepReplicas          StepKind = "replicas"
	StepImages            StepKind = "images"
	// StepVariable is the value of a variable that a deployer substitutes.
	StepVariable StepKind = "variable"
	// StepMetadata is a label or an annotation that a deployer sets.
	StepMetadata StepKind = "metadata"
	// StepTemplate is a template of a chart, StepValues a value for it.
	StepTemplate StepKind = "template"
	StepValues   StepKind = "values"
	// StepTransformer is any other part of a kustomization.
	StepTransformer StepKind = "transformer"
)

// Step is one of the changes that wrote a field, in order.
type Step struct {
	// Position is where the field was written.
	tree.Position
	// Absent is set when the field does not exist there: the object's own document is the first step even
	// then, with the position of the nearest ancestor.
	Absent bool
	// Kind is empty when it is unknown.
	Kind StepKind
	// Kustomization is the file of the kustomization that applied the change; empty when there is none, or
	// when it is unknown which of several did.
	Kustomization string
	// Component is set when that kustomization is a Component.
	Component bool
}

// Kustomization is a kustomization that an object went through.
type Kustomization struct {
	// File is the path of the kustomization file.
	File string
	// Component is set when it is a Component.
	Component bool
	// Entry is the entry by which another kustomization uses it; zero for the root.
	Entry tree.Position
}

// Chain returns the history of a part of a field's value in the order of application: the place in the
// object's own document, then everything that wrote it later, up to the change in effect, whose position is
// that of Place. Uncertain steps are left out, so for a field that is absent or not well known it returns only
// the step at Place.
func (s *Origin) Chain(path string, part Part) []Step {
	at := s.Place(path, part)
	if p := s.places(); p.History != nil {
		return p.History.Steps(path, part, at)
	}
	return []Step{{Position: at.Position, Kind: StepResource}}
}

// RemovalChain returns the chain of a list from which an element was removed: where the list was written, and
// the change that removed the element.
func (s *Origin) RemovalChain(list string, r Removal) []Step {
	steps := s.Chain(list, Whole)[:1]
	last := Step{Position: r.Position, Kind: StepPatch}
	if p := s.places(); p.History != nil {
		last = p.History.RemovalStep(list, last)
	}
	return append(steps, last)
}

// Kustomizations returns the kustomizations that the object went through, the one that lists its document
// first and the root last, with the components that changed it; entry is the line that lists the document.
// Both are zero for objects of plain roots and when the object may have taken several routes.
func (s *Origin) Kustomizations() (entry tree.Position, through []Kustomization) {
	if p := s.places(); p.History != nil {
		return p.History.Kustomizations()
	}
	return tree.Position{}, nil
}

// Deletion is a `$patch: delete` of an object, and the entry of the kustomization that
// applies it.
type Deletion struct{ Directive, Entry tree.Position }

// DeletedBy returns the patches with which the kustomizations of the root at a directory of a tree delete an
// object that has the kind and a name of this one: the places of a change that deletes an object rendered
// before. It is nil for objects of plain roots.
func (s *Origin) DeletedBy(t *tree.Tree, dir string) []Deletion {
	if p := s.places(); p.History != nil {
		return p.History.DeletedBy(t, dir)
	}
	return nil
}
