package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// The reasons why no line is known, for readers of a report.
const (
	WhyIsolated  = "the kustomization sets an `openapi` schema, so that it is built in a process of its own, which does not tell lines"
	whyDifferent = "kustomize builds something else when lines are made to tell where they are"
	whyParsed    = "a JSON6902 patch made kustomize read the object anew, and without such patches the root does not build as it does"
	whyReplaced  = "a replacement may have written it, and the line that it copied is not known"
	whyVariable  = "a variable of `vars` is written here, and the line of its value is not known"
	whyCollected = "kustomize made it: the lines are those of what is in it"
	WhyUnknown   = "no document, patch or entry of a kustomization has this value"
)

// why returns the reason why no line of a field is known; "" when the object has no such field.
func (l *locator) why(i int, document tree.Position, path string) string {
	node, steps := l.resources[i].YNode(), origin.ParsePath(path)
	hops, complete := origin.Descend(node, steps)
	if !complete || len(hops) == 0 {
		return ""
	}
	steps = origin.Canonical(hops, steps)
	leaf := hops[len(hops)-1].Value
	id := l.identity(i, document)
	f := setField{steps: steps, value: leaf.Value, kind: id.kind, names: id.names, kustomizations: id.kustomizations}
	switch {
	case leaf.Kind != yaml.ScalarNode:
		return whyCollected
	case len(steps) == 1 && (l.isGenerated(i) || l.mergesInto(document.Path, f)):
		return fmt.Sprintf("kustomize writes the %s of every %s that it generates", steps[0].Key, id.kind)
	case l.mayReplace(document.Path, f):
		return whyReplaced
	case l.holdsVariable(leaf):
		return whyVariable
	case reparsed(node) && l.before() == nil:
		return whyParsed
	}
	return WhyUnknown
}

// mergesInto reports whether a generator merges into the object, which makes it a generated object.
func (l *locator) mergesInto(file string, f setField) bool {
	for _, k := range l.passing(f, file) {
		for _, g := range generatorsOf(k, f.kind) {
			if slices.Contains(f.names, g.args.Name) {
				return true
			}
		}
	}
	return false
}

// mayReplace reports whether a replacement may have written a field.
func (l *locator) mayReplace(file string, f setField) bool {
	for _, k := range l.passing(f, file) {
		for _, r := range l.replacementsOf(k) {
			if replaces(r, f) {
				return true
			}
		}
	}
	return false
}

// holdsVariable reports whether the written value contains a variable that was replaced.
func (l *locator) holdsVariable(leaf *yaml.Node) bool {
	was, _ := l.asWritten(leaf)
	return was != nil && was.Value != leaf.Value && strings.Contains(was.Value, "$(")
}
