package deploy

import (
	"cmp"
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/deploy/argocds"
	"github.com/preadmit/preadmit/render/deploy/before"
	"github.com/preadmit/preadmit/render/deploy/definitions"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/resourceset"
)

// Expand finds the units of a tree in which roots were discovered. It renders the roots that may hold objects which
// define units, and what those need, but no other units. An error is one of rendering, caused by ctx.
func Expand(ctx context.Context, r *render.Renderer, found *render.Discovery, opts Options) (*Graph, error) {
	last := newExpander(ctx, r, found, opts)
	var err error
	if last.argo, err = last.supposedArgoCDs(); err != nil {
		return nil, err
	}
	for rounds := 3; ; rounds-- { // the settings of Argo CD or the kinds of its clusters may differ from the assumed ones
		e := newExpander(ctx, r, found, opts)
		e.argo, e.kinds, e.before, e.reached = last.argo, last.kinds, last.results, last.reached
		again, err := e.findArgoCDs(rounds)
		if err == nil && !again && e.findReached() {
			again, rounds = true, rounds+1
		} else if err == nil && !again && rounds > 0 {
			again, err = e.findKinds()
		}
		if err != nil || !again {
			return e.complete(err)
		}
		last = e
	}
}

func newExpander(ctx context.Context, r *render.Renderer, found *render.Discovery, opts Options) *expander {
	e := &expander{
		ctx: ctx, renderer: r, found: found.Roots, unused: found.UnusedCharts(), beside: found.UnusedManifests(), installed: map[render.ObjectRef]bool{}, opts: opts, units: map[unitKey]*node{}, sets: map[unitKey]*knownSet{},
		results: map[render.RootID]*render.Result{}, reached: map[render.RootID]bool{}, indexes: map[*render.Result]objects.Index{}, setDirs: map[string]bool{}, raw: map[*node]*render.Result{}, remotes: map[*render.Result]bool{}, searched: map[search]map[*node]bool{},
		graph: &Graph{Claims: map[render.RootID][]render.RootID{}, Bootstrap: map[render.RootID][]string{}},
	}
	e.origins = &origins{e}
	if opts.Render == nil {
		e.opts.Render = e.oneByOne
	}
	if opts.Before == nil {
		e.opts.Before = before.Nothing{}
	}
	return e
}

// complete completes the graph once all units are known, unless err is set.
func (e *expander) complete(err error) (*Graph, error) {
	if err == nil {
		err = e.findProjects()
	}
	if err == nil {
		err = e.findAccounts()
	}
	if err != nil {
		return nil, err
	}
	e.graph.Charts = e.charts()
	e.leaveInstalled()
	return e.finish(), nil
}

// expander expands the graph of a tree.
type expander struct {
	ctx      context.Context
	renderer *render.Renderer
	found    []render.Root
	opts     Options
	// unused are the directories of charts that nothing in the tree uses, installed the references of charts that
	// became entry points.
	unused    []string
	installed map[render.ObjectRef]bool
	// beside are the manifests that the kustomization in their directory does not use, each as a root.
	beside []render.Root
	// assumedApps are the roots with Applications that people were assumed to apply, reached those of them that
	// Applications of other roots apply.
	assumedApps []render.RootID
	reached     map[render.RootID]bool
	// argo are the settings of Argo CD by cluster, kinds the custom kinds of clusters in which charts of Applications
	// look up custom groups. before are the results of the previous round, which had other assumptions.
	argo   map[string]argocds.Settings
	kinds  map[string]definitions.Known
	before map[render.RootID]*render.Result
	// files maps a file to the discovered roots that are made of it.
	files map[string][]render.RootID

	// nodes are the units in the order in which they were found, and units the same by cluster and object.
	nodes []*node
	units map[unitKey]*node
	// clusters are the known clusters, in the order in which they were found.
	clusters []*cluster
	results  map[render.RootID]*render.Result
	indexes  map[*render.Result]objects.Index
	// raw are the results of units that were rendered without substitution, to find the variables in them.
	raw     map[*node]*render.Result
	origins *origins
	// assumed is the address of this repository as guessed by assumeSelf; empty if it was not guessed.
	assumed string
	// remotes caches holdsRemote by result.
	remotes map[*render.Result]bool
	// sets are the ApplicationSets that were found.
	sets map[unitKey]*knownSet
	// setDirs are the directories in the templates of ApplicationSets that could not be evaluated.
	setDirs map[string]bool
	// searched are the units in which an object was already looked for.
	searched map[search]map[*node]bool
	// views are the trees that sources contain; nil until one is needed.
	views *flux.Views
	graph *Graph
}

// unitKey is the name of a unit's object in its cluster.
type unitKey struct {
	cluster string
	object  render.ObjectRef
}

// node is a unit while the graph is expanded.
type node struct {
	root    render.Root
	object  *flux.Kustomization   // set for a Kustomization of Flux
	release *releases.HelmRelease // set for a HelmRelease
	set     *resourceset.Set      // set for a ResourceSet
	app     *argocd.Application   // set for an Application of Argo CD
	cluster *cluster
	parent  *node
	depth   int
	// resolved is set when the source and the variables of the unit are known, expanded when the units that its objects
	// define were added.
	// resolving is set while its source and its variables are looked up.
	resolved, resolving, expanded bool
	// settled is set when the custom kinds of the cluster of a release are known.
	settled bool
	// excluded is the field of the object that makes its parent not apply it; empty for none.
	excluded string
	// made is set if a FluxInstance defines the object. steps counts how often an entry point was replaced by its own
	// rendered object.
	made  bool
	steps int
	// assumed is set for an entry point whose object is not in the repository.
	assumed bool
	// unknown are the reasons why variables of the object are not known, by variable name.
	unknown map[string]string
	// plain caches withoutVariables.
	plain *render.Root
}

// cluster is where units are applied together.
type cluster struct {
	name string
	// bootstrap are discovered roots that are applied by hand.
	bootstrap []render.RootID
	// made are sources that its FluxInstances make.
	made []objects.Held
	// accounts are the default service accounts by controller name; nil until they were looked for.
	accounts map[string]fluxtypes.Account
	// self are the references of sources that are this repository, urls the addresses of such sources.
	self map[render.ObjectRef]bool
	urls map[string]bool
	// branch is the branch of this repository that the entry point follows, empty if it is not known.
	branch string
}

// run finds entry points and the units reached from them until there are no more.
func (e *expander) run() error {
	if err := e.firstEntries(); err != nil {
		return err
	}
	e.givenApplications()
	seenApps := map[render.RootID]bool{}
	for seen := map[render.RootID]bool{}; ; {
		if err := e.expandAll(); err != nil {
			return err
		}
		if err := e.settleReleases(); err != nil {
			return err
		}
		if len(e.opts.Entries) > 0 || len(e.opts.ArgoCD.Applications) > 0 {
			return nil
		}
		more, err := e.instances()
		if err == nil && !more {
			more, err = e.moreEntries(seen)
		}
		if err == nil && !more {
			more, err = e.moreApplications(seenApps)
		}
		if err != nil || !more {
			return err
		}
	}
}

// expandAll expands units until all are expanded.
func (e *expander) expandAll() error {
	for {
		var ready []*node
		for _, n := range e.nodes {
			if n.expanded {
				continue
			}
			if err := e.resolve(n); err != nil {
				return err
			}
			if n.excluded != "" {
				e.exclude(n)
			}
			ready = append(ready, n)
		}
		if len(ready) == 0 {
			return nil
		}
		if err := e.expand(ready); err != nil {
			return err
		}
	}
}

// expand renders the units that may hold other units, and adds those.
func (e *expander) expand(nodes []*node) error {
	var holding []*node
	for _, n := range nodes {
		n.expanded = true
		if n.root.Unit.Problem != nil {
			continue
		}
		if n.release == nil && (e.opts.Everything || n.steps > 0 || e.mayHold(n.root, append(mentionsOfUnits(), objects.MentionOf(fluxtypes.InstanceKind))...)) {
			holding = append(holding, n)
		} else {
			e.claim(n)
		}
	}
	if err := e.renderNodes(holding); err != nil {
		return err
	}
	for _, n := range holding {
		if !e.adoptRendered(n) {
			e.claim(n)
			e.addChildren(n)
		}
	}
	return nil
}

// renderNodes renders resolved units.
func (e *expander) renderNodes(nodes []*node) error {
	roots := make([]render.Root, len(nodes))
	for i, n := range nodes {
		roots[i] = n.root
	}
	return e.render(roots)
}

// render renders the roots that are not rendered yet.
func (e *expander) render(roots []render.Root) error {
	var left []render.Root
	for _, root := range roots {
		if r := e.before[root.RootID]; r != nil && e.results[root.RootID] == nil && r.Root.Same(root) && (r.Problem == nil || root.Unit == nil) {
			same := *r
			same.Root, e.results[root.RootID] = root, &same
		}
		if e.results[root.RootID] == nil {
			left = append(left, root)
		}
	}
	if len(left) == 0 {
		return nil
	}
	results, err := e.opts.Render(e.ctx, left)
	if err != nil {
		return err
	}
	for i, root := range left {
		e.results[root.RootID] = results[i]
	}
	return nil
}

func (e *expander) oneByOne(ctx context.Context, roots []render.Root) ([]*render.Result, error) {
	results := make([]*render.Result, len(roots))
	for i, root := range roots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		results[i] = e.renderer.Render(ctx, root)
	}
	return results, nil
}

// mayHold reports whether a root may render to objects that match one of the mentions.
func (e *expander) mayHold(root render.Root, mentions ...render.Mention) bool {
	needs, of := e.needs(root)
	return needs.Problem == nil && of.MayHold(needs, mentions...)
}

func (e *expander) needs(root render.Root) (*render.Needs, *render.Renderer) {
	if e.opts.Needs != nil {
		return e.opts.Needs(root)
	}
	return e.renderer.Needs(root), e.renderer
}

// indexOf returns the index of the objects of a result, and caches it.
func (e *expander) indexOf(r *render.Result) objects.Index {
	if e.indexes[r] == nil {
		e.indexes[r] = objects.IndexOf(r)
	}
	return e.indexes[r]
}

// finish returns the graph of all units that were found.
func (e *expander) finish() *Graph {
	g := e.graph
	for _, n := range e.nodes {
		g.Units = append(g.Units, n.root)
	}
	slices.SortFunc(g.Units, func(a, b render.Root) int { return a.Compare(b.RootID) })
	for _, units := range g.Claims {
		slices.SortFunc(units, render.RootID.Compare)
	}
	e.findBootstrap()
	g.Results = e.results
	for n, r := range e.raw {
		if r.Root.RootID != n.root.RootID {
			g.Results[r.Root.RootID] = r
		}
	}
	slices.SortStableFunc(g.Gaps, func(a, b render.Gap) int {
		return cmp.Or(a.Root.Compare(b.Root), cmp.Compare(a.Why, b.Why))
	})
	return g
}

// findBootstrap records the roots that are applied by hand.
func (e *expander) findBootstrap() {
	for _, c := range e.clusters {
		for _, id := range c.bootstrap {
			if len(e.graph.Claims[id]) == 0 && !slices.Contains(e.graph.Bootstrap[id], c.name) {
				e.graph.Bootstrap[id] = append(e.graph.Bootstrap[id], c.name)
			}
		}
	}
}
