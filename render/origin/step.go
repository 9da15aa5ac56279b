package origin

import (
	"github.com/preadmit/preadmit/render/tree"
)

// StepKind says what wrote a field. Those of transformers are named like the field
// of a kustomization.
type StepKind string

// What writes fields of objects.
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
	// StepTemplate is a template of a chart, StepValues a value that it is given.
	StepTemplate StepKind = "template"
	StepValues   StepKind = "values"
	// StepTransformer is any other part of a kustomization.
	StepTransformer StepKind = "transformer"
)

// Step is one of those that wrote a field, one after the other.
type Step struct {
	// Position is where the field was written.
	tree.Position
	// Absent is set when the field is not there: the object's own document is the first
	// step even then, with the position of the nearest ancestor.
	Absent bool
	// Kind is empty when it is not known.
	Kind StepKind
	// Kustomization is the file of the kustomization that applied it; empty when there
	// is none, or when it is not known which of several did.
	Kustomization string
	// Component is set when that kustomization is a Component.
	Component bool
}

// Kustomization is a kustomization that an object went through.
type Kustomization struct {
	// Kustomization is its file.
	File string
	// Component is set when it is a Component.
	Component bool
	// Entry is the entry by which another kustomization uses it; zero for the root.
	Entry tree.Position
}

// Chain is the history of a part of a field's value in the order of application:
// where the object's own document has it, then all that wrote it later, down to the
// one in effect, whose position is that of Place. A step that is not certain is left
// out, so that of a field that is absent, or of which little is known, there is only
// the one that Place returns.
func (s *Origin) Chain(path string, part Part) []Step {
	at := s.Place(path, part)
	if p := s.places(); p.History != nil {
		return p.History.Steps(path, part, at)
	}
	return []Step{{Position: at.Position, Kind: StepResource}}
}

// RemovalChain is the chain of a list from which an element is gone: where it was
// written, and what took the element away.
func (s *Origin) RemovalChain(list string, r Removal) []Step {
	steps := s.Chain(list, Whole)[:1]
	last := Step{Position: r.Position, Kind: StepPatch}
	if p := s.places(); p.History != nil {
		last = p.History.RemovalStep(list, last)
	}
	return append(steps, last)
}

// Kustomizations are the kustomizations that the object went through, the one that lists its
// document first and the root last, with the components that changed it; entry is
// the line that lists the document. Passed is nil, and entry zero, for objects of
// plain roots and when an object may have come more than one way.
func (s *Origin) Kustomizations() (entry tree.Position, through []Kustomization) {
	if p := s.places(); p.History != nil {
		return p.History.Kustomizations()
	}
	return tree.Position{}, nil
}

// Deletion is a `$patch: delete` of an object, and the entry of the kustomization that
// applies it.
type Deletion struct{ Directive, Entry tree.Position }

// DeletedBy returns the patches by which the kustomizations of the root at a directory of
// some tree take away an object that has the kind and a name of this one: where a change
// deletes what was rendered before. It is nil for objects of plain roots.
func (s *Origin) DeletedBy(t *tree.Tree, dir string) []Deletion {
	if p := s.places(); p.History != nil {
		return p.History.DeletedBy(t, dir)
	}
	return nil
}
