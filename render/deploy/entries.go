package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// fluxSystem is the name that `flux bootstrap` and flux-operator give to the namespace, the source and the
// Kustomization.
const fluxSystem = "flux-system"

// firstEntries adds the entry points of the options, or else of directories that `flux bootstrap` created.
func (e *expander) firstEntries() error {
	if len(e.opts.Entries) > 0 {
		return e.givenEntries()
	}
	return e.bootstrapped()
}

// candidates returns the discovered roots that may hold objects of the mentions.
func (e *expander) candidates(mentions ...render.Mention) []render.Root {
	var roots []render.Root
	for _, root := range e.found {
		if e.mayHold(root, mentions...) {
			roots = append(roots, root)
		}
	}
	return roots
}

// givenEntries adds the entry points of the options.
func (e *expander) givenEntries() error {
	roots := e.candidates(objects.MentionOf(flux.Kind))
	if err := e.render(roots); err != nil {
		return err
	}
	for _, entry := range e.opts.Entries {
		dir := paths.InTree(entry)
		if applied, err := e.givenByHand(dir); err != nil || applied {
			if err != nil {
				return err
			}
			continue
		}
		if to := e.renderer.Tree().Resolve(dir); to.Err != nil || !to.IsDir {
			return &paths.EntryError{Dir: entry}
		}
		// Roots in the directory itself come before others.
		slices.SortStableFunc(roots, func(a, b render.Root) int { return cmp.Compare(rank(dir, a), rank(dir, b)) })
		if k, ok := e.entryAt(roots, dir); ok {
			e.addEntry(dir, k, []render.RootID{k.Root})
		} else if err := e.givenImplied(dir, roots); err != nil {
			return err
		}
	}
	return nil
}

// givenImplied adds an entry point of the options that no Kustomization of the repository applies: as a FluxInstance
// defines it, or else with the source that the Kustomizations in it refer to.
func (e *expander) givenImplied(dir string, roots []render.Root) error {
	if err := e.addInstances(e.candidates(mentionsOfInstances()...), func(at string) bool { return at == dir }); err != nil || e.hasEntry(dir) {
		return err
	}
	source := fluxtypes.RepositoryRef(fluxSystem, fluxSystem)
	roots = slices.DeleteFunc(slices.Clone(roots), func(root render.Root) bool { return !paths.Within(dir, root.Dir) })
	group := e.holdersOf(roots)
	if ref, ok := e.missingSource(group); ok {
		source = ref
	}
	e.addImplied(dir, source, group)
	return nil
}

func rank(dir string, root render.Root) int {
	if paths.Within(dir, root.Dir) {
		return 0
	}
	return 1
}

// entryAt returns the first Kustomization that applies a directory.
func (e *expander) entryAt(roots []render.Root, dir string) (objects.Held, bool) {
	for _, root := range roots {
		for _, k := range objects.Of(e.results[root.RootID], flux.Kind) {
			if parsed, err := flux.Parse(k.Object.JSON); err == nil && e.dirOf(parsed) == dir && parsed.Spec.SourceRef.Kind != artifactKind {
				return k, true
			}
		}
	}
	return objects.Held{}, false
}

// dirOf returns the directory of the tree that a Kustomization applies.
func (e *expander) dirOf(k *flux.Kustomization) string {
	return path.Join(e.topOf(k.SourceRef()), paths.InTree(k.Spec.Path))
}

// addEntry adds an entry point whose object is in roots of the tree.
func (e *expander) addEntry(name string, k objects.Held, bootstrap []render.RootID) {
	e.addApplied(name, k, bootstrap, e.maybeSelf)
}

// addApplied adds an object that is applied by hand as an entry point. isSelf reports whether its source may be this
// repository.
func (e *expander) addApplied(name string, k objects.Held, bootstrap []render.RootID, isSelf func(*flux.Kustomization, []render.RootID) bool) {
	c := e.clusterOf(name)
	for _, id := range bootstrap {
		if !slices.Contains(c.bootstrap, id) {
			c.bootstrap = append(c.bootstrap, id)
		}
	}
	if parsed, err := flux.Parse(k.Object.JSON); err == nil && isSelf(parsed, bootstrap) {
		e.addSelf(c, parsed.SourceRef())
	}
	e.add(&node{cluster: c}, k)
}

// addSelf records that a source is this repository, so that other sources with its URL are, too.
func (e *expander) addSelf(c *cluster, ref render.ObjectRef) {
	c.self[ref] = true
	if o, ok := e.known(c, ref); ok {
		s := fluxtypes.Source{}
		if kjson.UnmarshalCaseSensitivePreserveInts(o.Object.JSON, &s) == nil && s.Spec.URL != "" {
			c.urls[fluxtypes.Address(s.Spec.URL)] = true
			if ref.Kind == "GitRepository" {
				c.branch = s.Branch()
			}
		}
	}
}

// addImplied adds an entry point whose object is not in the repository. If the group of roots that it applies needs
// variables, their values are unknown.
func (e *expander) addImplied(dir string, source render.ObjectRef, group []*holder) *node {
	substitutes := slices.ContainsFunc(group, func(h *holder) bool { return objects.NeedVariables(e.results[h.root.RootID]) })
	o := &render.Object{JSON: flux.Assumed(paths.Below(e.topOf(source), dir), source, substitutes)}
	n := e.addMade(dir, source, objects.Held{Header: objects.HeaderOf(o), Object: o})
	n.assumed = true
	if substitutes {
		n.unknown = map[string]string{"": "it is not known what applies " + dir + ", nor the values of its variables"}
	}
	return n
}

// addMade adds an entry point whose object is not written in the repository.
func (e *expander) addMade(dir string, source render.ObjectRef, k objects.Held) *node {
	c := e.clusterOf(dir)
	e.addSelf(c, source)
	n := &node{cluster: c}
	e.add(n, k)
	e.graph.Diagnostics = append(e.graph.Diagnostics, render.Diagnostic{
		Severity: render.SeverityNote, Position: render.Position{Path: dir},
		Message: fmt.Sprintf("the repository does not define what applies this directory: %s of %s is assumed, as `flux bootstrap` and flux-operator create it", k.Ref(), source),
	})
	return n
}

// wouldRender reports whether Flux can build a directory.
func (e *expander) wouldRender(dir string) bool {
	root := render.Root{
		RootID: render.RootID{Kind: render.KindFlux, Dir: dir, Object: fluxtypes.RepositoryRef(fluxSystem, fluxSystem), Cluster: dir + " implied"},
		Unit:   &render.Unit{Object: flux.Implied(dir, fluxtypes.RepositoryRef(fluxSystem, fluxSystem)), Checkout: render.Checkout{Top: "."}},
	}
	return e.renderer.Render(e.ctx, root).Problem == nil
}

// instances adds the entry points of FluxInstances in roots that nothing applies and in the objects of units. more is
// false if none was added.
func (e *expander) instances() (more bool, err error) {
	var roots []render.Root
	for _, root := range e.candidates(mentionsOfInstances()...) {
		if len(e.graph.Claims[root.RootID]) == 0 {
			roots = append(roots, root)
		}
	}
	before := len(e.nodes)
	if err := e.addInstances(roots, func(string) bool { return true }); err != nil {
		return false, err
	}
	return len(e.nodes) > before, nil
}

// addInstances adds the entry points of FluxInstances, or of HelmReleases that install one, in roots and in the objects
// of units. chosen selects entry points by directory.
func (e *expander) addInstances(roots []render.Root, chosen func(dir string) bool) error {
	if err := e.render(roots); err != nil {
		return err
	}
	var found []objects.Held
	for _, kind := range []schema.GroupKind{fluxtypes.InstanceKind, releases.Kind} {
		for _, root := range roots {
			found = append(found, objects.Of(e.results[root.RootID], kind)...)
		}
		for _, n := range e.nodes {
			found = append(found, objects.Of(e.results[n.root.RootID], kind)...)
		}
	}
	for _, o := range found {
		if fi := fluxtypes.ReadInstance(o.Object.JSON); fi != nil && fi.Spec.Sync != nil {
			e.addInstance(o, fi, chosen)
		}
	}
	return nil
}

// mentionsOfInstances are the mentions by which a root may render FluxInstances, or HelmReleases with the values of
// one.
func mentionsOfInstances() []render.Mention {
	return []render.Mention{objects.MentionOf(fluxtypes.InstanceKind), {Group: releases.Kind.Group, Kind: releases.Kind.Kind, Word: "instance"}}
}

// addInstance adds the entry point of a FluxInstance, if its directory is chosen: the Kustomization of spec.sync with
// the patches of the instance.
func (e *expander) addInstance(o objects.Held, fi *fluxtypes.Instance, chosen func(dir string) bool) {
	source := fi.SourceRef(o.NamespaceOr(fluxSystem))
	dir := path.Join(e.topOf(source), fi.Dir())
	k := objects.Held{Object: &render.Object{JSON: flux.Implied(fi.Dir(), source), Index: o.Object.Index}, Root: o.Root}
	implied := k.Object.JSON
	sync, err := flux.NewSync(e.ctx, e.renderer.Tree().Limits, fi, o.Object.Unknown, fi.Source(source), k.Object.JSON)
	if err == nil {
		k.Object.JSON = sync.Kustomization.JSON
		k.Written = func(of *origin.Origin) *origin.Origin { return sync.Origin(of, e.renderer.Tree()) }
		if parsed, bad := flux.Parse(k.Object.JSON); bad == nil {
			source, dir = parsed.SourceRef(), e.dirOf(parsed)
		}
	}
	if known := e.assumedAt(dir); known != nil && (err != nil || string(k.Object.JSON) != string(implied)) {
		known.assumed = false
		e.notJudged(known, "spec", fmt.Sprintf("%s, which is found among what it applies, has flux-operator make it with patches: they are not in what is rendered", o.Ref()))
	}
	if to := e.renderer.Tree().Resolve(dir); !chosen(dir) || to.Err != nil || !to.IsDir || e.hasEntry(dir) {
		return // it is in another repository, or already known
	}
	k.Header = objects.HeaderOf(k.Object)
	n := e.addMade(dir, source, k)
	n.made = true
	if n.root.Unit == nil {
		return // the cluster has another object of this name
	}
	if bad := new(flux.SyncError); errors.As(err, &bad) {
		n.fail(bad.Kind, bad.Field, bad.Message)
	} else if sync.Source != nil {
		made := &render.Object{JSON: sync.Source.JSON, Index: o.Object.Index}
		n.cluster.made = append(n.cluster.made, objects.Held{Header: objects.HeaderOf(made), Object: made, Root: o.Root})
	}
	if fi.Spec.Sync.URL != "" {
		n.cluster.urls[fluxtypes.Address(fi.Spec.Sync.URL)] = true
		if branch, ok := strings.CutPrefix(fi.Spec.Sync.Ref, "refs/heads/"); ok {
			n.cluster.branch = branch
		}
	}
	if o.Root.Object == (render.ObjectRef{}) { // no unit applies it
		n.cluster.bootstrap = append(n.cluster.bootstrap, o.Root)
	}
}

func (e *expander) hasEntry(dir string) bool {
	return slices.ContainsFunc(e.nodes, func(n *node) bool { return n.parent == nil && n.root.Dir == dir })
}

// assumedAt returns the entry point of a directory that was assumed before an object for it was found; nil if there is
// none.
func (e *expander) assumedAt(dir string) *node {
	i := slices.IndexFunc(e.nodes, func(n *node) bool { return n.assumed && n.root.Dir == dir })
	if i < 0 {
		return nil
	}
	return e.nodes[i]
}

// maybeSelf reports whether the source of a Kustomization may be this repository, judged by the objects of the roots
// that are applied with it.
func (e *expander) maybeSelf(k *flux.Kustomization, beside []render.RootID) bool {
	self, _ := e.selfSource(k, beside)
	return self
}

// follows reports whether the source of a Kustomization may be this repository and follows its changes. A source at a
// tag or a commit may as well be another repository.
func (e *expander) follows(k *flux.Kustomization, beside []render.RootID) bool {
	self, s := e.selfSource(k, beside)
	return self && (s == nil || !s.IsPinned(k.SourceRef().Kind) || e.isRemote(s.Spec.URL))
}

// selfSource reports whether the source of a Kustomization may be this repository. s is that source, if the roots that
// are applied with the Kustomization hold it.
func (e *expander) selfSource(k *flux.Kustomization, beside []render.RootID) (self bool, s *fluxtypes.Source) {
	ref := k.SourceRef()
	if to := e.renderer.Tree().Resolve(e.dirOf(k)); ref.Kind == artifactKind || to.Err != nil || !to.IsDir {
		return false, nil
	}
	c := &cluster{bootstrap: beside}
	o, ok := e.known(c, ref)
	if !ok {
		return true, nil
	}
	s = &fluxtypes.Source{}
	if kjson.UnmarshalCaseSensitivePreserveInts(o.Object.JSON, s) != nil {
		return false, nil
	}
	return e.isSelf(c, ref, s.Spec.URL) || ref.Kind == "GitRepository" && !slices.ContainsFunc(beside, e.holdsRemote), s
}

// holdsRemote reports whether a root holds a GitRepository with a URL of this repository. If it does, GitRepositories
// with other URLs are other repositories.
func (e *expander) holdsRemote(id render.RootID) bool {
	r := e.results[id]
	known, ok := e.remotes[r]
	if !ok && r != nil {
		for _, o := range objects.Of(r, schema.GroupKind{Group: fluxtypes.SourceGroup, Kind: "GitRepository"}) {
			s := fluxtypes.Source{}
			known = known || kjson.UnmarshalCaseSensitivePreserveInts(o.Object.JSON, &s) == nil && e.isRemote(s.Spec.URL)
		}
		e.remotes[r] = known
	}
	return known
}
