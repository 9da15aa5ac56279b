package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/flux"
)

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

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
		known := map[schema.GroupKind]render.Definition{}
		if err := e.definedBy(c, known); err != nil {
			return err
		}
		for _, n := range here {
			for _, d := range declared[n].Definitions {
				known[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = d
			}
		}
		e.tell(here, declared, known)
		if err := e.definedByTemplates(here, declared, known); err != nil {
			return err
		}
		e.tell(here, declared, known)
	}
	return nil
}

// definedBy adds the definitions that a cluster is given by Kustomizations and by hand.
func (e *expander) definedBy(c *cluster, known map[schema.GroupKind]render.Definition) error {
	mention := render.Mention{Group: definitionKind.Group, Kind: definitionKind.Kind}
	var holding []*node
	for _, n := range e.nodes {
		if n.release == nil && n.root.Unit.Cluster == c.name && n.root.Unit.Problem == nil && e.mayHold(n.root, mention) {
			holding = append(holding, n)
		}
	}
	if err := e.renderNodes(holding); err != nil {
		return err
	}
	results := make([]*render.Result, 0, len(holding)+len(c.bootstrap))
	for _, id := range c.bootstrap {
		results = append(results, e.results[id])
	}
	for _, n := range holding {
		results = append(results, e.results[n.root.RootID])
	}
	for _, r := range results {
		addDefinitions(r, known)
	}
	return nil
}

func addDefinitions(r *render.Result, known map[schema.GroupKind]render.Definition) {
	if r == nil {
		return
	}
	for _, o := range r.Objects {
		if d, ok := render.DefinitionOf(o.JSON); ok {
			known[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = d
		}
	}
}

// definedByTemplates adds the definitions that templates of charts make, of groups that other
// charts ask for. Only those charts are rendered that may have them.
func (e *expander) definedByTemplates(releases []*node, declared map[*node]render.Declared, known map[schema.GroupKind]render.Definition) error {
	wanted := map[string]bool{}
	for _, n := range releases {
		for _, group := range declared[n].Asks {
			wanted[group] = !strings.HasSuffix(group, ".k8s.io") || strings.Count(group, ".") > 2 || wanted[group]
		}
	}
	for kind := range known {
		delete(wanted, kind.Group)
	}
	var defining []*node
	for _, n := range releases {
		for group, asked := range wanted {
			if asked && declared[n].May && declared[n].Mentions(group) && !slices.Contains(defining, n) {
				defining = append(defining, n)
			}
		}
	}
	roots := make([]render.Root, len(defining))
	for i, n := range defining {
		roots[i] = n.root
	}
	results, err := e.opts.Render(e.ctx, roots)
	if err != nil {
		return err
	}
	for _, r := range results {
		addDefinitions(r, known)
	}
	return nil
}

// tell sets those custom kinds that releases mention, in order.
func (e *expander) tell(releases []*node, declared map[*node]render.Declared, known map[schema.GroupKind]render.Definition) {
	for _, n := range releases {
		var mentioned []render.Definition
		for _, d := range known {
			if declared[n].Mentions != nil && declared[n].Mentions(d.Group) {
				mentioned = append(mentioned, d)
			}
		}
		slices.SortFunc(mentioned, func(a, b render.Definition) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
		})
		u, r := *n.root.Unit, *n.root.Unit.Release // what was rendered before keeps its own
		r.Definitions = mentioned
		u.Release = &r
		n.root.Unit = &u
	}
}
