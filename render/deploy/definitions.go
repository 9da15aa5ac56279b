package deploy

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/definitions"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/flux"
)

// settleReleases sets which custom kinds the cluster of each release has, once its units are known,
// and renders those that are to be rendered.
func (e *expander) settleReleases() error {
	for {
		var releases []*node
		for _, n := range e.nodes {
			if n.release != nil && !n.settled && n.root.Unit.Problem == nil {
				releases = append(releases, n)
			}
		}
		if len(releases) == 0 {
			return nil
		}
		if err := e.define(releases); err != nil {
			return err
		}
		var holding []*node
		for _, n := range releases {
			n.settled = true
			if e.opts.Everything || e.mayHold(n.root, mentionsOfUnits()...) {
				holding = append(holding, n)
			}
		}
		if err := e.renderNodes(holding); err != nil {
			return err
		}
		for _, n := range holding {
			e.addChildren(n)
		}
		if err := e.drain(); err != nil {
			return err
		}
	}
}

// mentionsOfUnits are what objects have in common that ask for units.
func mentionsOfUnits() []render.Mention {
	return append([]render.Mention{objects.MentionOf(flux.Kind), objects.MentionOf(releases.Kind), objects.MentionOf(resourceSetKind)}, argoMentions...)
}

// addChildren adds the units that objects of a unit ask for.
func (e *expander) addChildren(n *node) {
	result := e.results[n.root.RootID]
	add := func(objects []objects.Held, add func(objects.Held)) {
		for _, k := range objects {
			known := len(e.nodes)
			if add(k); n.object != nil {
				for _, child := range e.nodes[known:] {
					child.excluded = flux.Excluded(k.Object.JSON)
				}
			}
		}
	}
	add(objects.Of(result, flux.Kind), func(k objects.Held) { e.addChild(n, k) })
	add(objects.Of(result, releases.Kind), func(k objects.Held) { e.addRelease(n, k) })
	add(objects.Of(result, resourceSetKind), func(k objects.Held) { e.addSet(n, k) })
	add(argoIn(result), func(k objects.Held) { e.addArgo(n, e.clusterOf(n.root.Unit.Cluster), k) })
}

// exclude makes a unit one whose object the parent does not apply: what the cluster has in its place is not known.
// It claims what the object says, else it would be said that nothing applies that.
func (e *expander) exclude(n *node) {
	if n.root.Unit.Problem == nil {
		e.claim(n)
	}
	u := *n.root.Unit // others know of what it needs
	u.Apply.Suspended = false
	n.root.Unit = &u
	n.fail(render.ProblemRefused, n.excluded, fmt.Sprintf("kustomize-controller does not apply this %s: whether the cluster has one, and what that says, is not known", n.root.Object.Kind))
}

// define sets the custom kinds of their clusters that releases mention.
func (e *expander) define(releases []*node) error {
	declared := map[*node]render.Declared{}
	for _, n := range releases {
		if d, ok := e.renderer.Declared(n.root); ok {
			declared[n] = d
		}
	}
	for _, c := range slices.Clone(e.clusters) {
		var here []*node
		for _, n := range releases {
			if n.root.Unit.Cluster == c.name {
				here = append(here, n)
			}
		}
		if len(here) == 0 {
			continue
		}
		known, err := e.definedBy(c.name)
		if err != nil {
			return err
		}
		for _, n := range here {
			known.Add(declared[n].Definitions)
		}
		setDefinitions(here, declared, known)
		if err := e.definedByTemplates(here, declared, known); err != nil {
			return err
		}
		setDefinitions(here, declared, known)
	}
	return nil
}

// definedBy returns the custom kinds that a cluster is given by hand, and by units that are no releases.
func (e *expander) definedBy(cluster string) (definitions.Known, error) {
	mention := objects.MentionOf(definitions.Kind)
	var holding []*node
	for _, n := range e.nodes {
		if n.release == nil && n.root.Unit.Cluster == cluster && n.root.Unit.Problem == nil && e.mayHold(n.root, mention) {
			holding = append(holding, n)
		}
	}
	if err := e.renderNodes(holding); err != nil {
		return nil, err
	}
	known := definitions.Known{}
	for _, c := range e.clusters {
		for _, id := range c.bootstrap {
			if c.name == cluster {
				known.AddObjects(e.results[id])
			}
		}
	}
	for _, n := range holding {
		known.AddObjects(e.results[n.root.RootID])
	}
	return known, nil
}

// definedByTemplates adds the definitions that templates of charts make, of groups that other
// charts ask for. Only those charts are rendered that may have them.
func (e *expander) definedByTemplates(releases []*node, declared map[*node]render.Declared, known definitions.Known) error {
	var roots []render.Root
	for _, n := range definitions.Defining(releases, declared, known) {
		roots = append(roots, n.root)
	}
	results, err := e.opts.Render(e.ctx, roots)
	if err != nil {
		return err
	}
	known.AddObjects(results...)
	return nil
}

// setDefinitions sets those custom kinds that releases mention.
func setDefinitions(releases []*node, declared map[*node]render.Declared, known definitions.Known) {
	for _, n := range releases {
		u, r := *n.root.Unit, *n.root.Unit.Release // what was rendered before keeps its own
		r.Definitions = known.Mentioned(declared[n])
		u.Release = &r
		n.root.Unit = &u
	}
}

// findKinds finds the custom kinds of those clusters of Applications whose charts ask for some. again is set when an Application
// mentions others than were supposed.
func (e *expander) findKinds() (again bool, err error) {
	declared, asked := map[*node]render.Declared{}, map[string]bool{}
	for _, n := range e.nodes {
		if n.app != nil && n.root.Unit.Problem == nil {
			d, _ := e.renderer.Declared(n.root)
			declared[n] = d
			if slices.ContainsFunc(d.Asks, definitions.IsCustom) {
				asked[n.root.Unit.Cluster] = true
			}
		}
	}
	e.kinds = map[string]definitions.Known{}
	for cluster := range asked {
		if e.kinds[cluster], err = e.definedBy(cluster); err != nil {
			return false, err
		}
	}
	for n, d := range declared {
		known := e.kinds[n.root.Unit.Cluster].Mentioned(d)
		again = again || !reflect.DeepEqual(known, n.root.Unit.Application.Definitions)
	}
	return again, nil
}
