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

// settleReleases sets the custom kinds of the cluster of each release, once the units of the cluster are known, and
// renders the releases that may hold units.
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
		if err := e.expandAll(); err != nil {
			return err
		}
	}
}

// mentionsOfUnits are the mentions by which a root may render objects that define units.
func mentionsOfUnits() []render.Mention {
	return append([]render.Mention{objects.MentionOf(flux.Kind), objects.MentionOf(releases.Kind), objects.MentionOf(resourceSetKind)}, argoMentions...)
}

// addChildren adds the units that the objects of a unit define.
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

// exclude marks a unit as not rendered because its parent does not apply its object: the object in the cluster is not
// known. The unit still claims its roots, so that these are not reported as unclaimed.
func (e *expander) exclude(n *node) {
	if n.root.Unit.Problem == nil {
		e.claim(n)
	}
	u := *n.root.Unit // other results may refer to the unit in n.root
	u.Apply.Suspended = false
	n.root.Unit = &u
	n.fail(render.ProblemRefused, n.excluded, fmt.Sprintf("kustomize-controller does not apply this %s: it is not known whether the cluster has one, and with which content", n.root.Object.Kind))
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
			known.Add(e.opts.Before.Applied(n.root, declared[n].Definitions))
		}
		setDefinitions(here, declared, known)
		if err := e.definedByTemplates(here, declared, known); err != nil {
			return err
		}
		setDefinitions(here, declared, known)
	}
	return nil
}

// definedBy returns the custom kinds of a cluster that are defined by hand, or by units that are not releases.
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
	known.Add(e.opts.Before.Kept(cluster))
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

// definedByTemplates adds the custom kinds that templates of charts define, if other charts look up their groups. Only
// charts that may define such kinds are rendered.
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

// setDefinitions sets the known custom kinds that each release mentions.
func setDefinitions(releases []*node, declared map[*node]render.Declared, known definitions.Known) {
	for _, n := range releases {
		u, r := *n.root.Unit, *n.root.Unit.Release // earlier results keep their own unit
		r.Definitions = known.Mentioned(declared[n])
		u.Release = &r
		n.root.Unit = &u
	}
}

// findKinds finds the custom kinds of the clusters in which charts of Applications look up custom groups. again is set
// if an Application mentions other kinds than those it was rendered with.
func (e *expander) findKinds() (again bool, err error) {
	declared, asked := map[*node]render.Declared{}, map[string]bool{}
	for _, n := range e.nodes {
		if n.app != nil && n.root.Unit.Problem == nil {
			d, _ := e.renderer.Declared(n.root)
			declared[n] = d
			if slices.ContainsFunc(d.DependsOn, definitions.IsCustom) {
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
