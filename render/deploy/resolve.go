package deploy

import (
	"fmt"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/fluxtypes"

	kjson "sigs.k8s.io/json"
)

// resolve finds the source and the variables of a unit.
func (e *expander) resolve(n *node) error {
	if n.resolved {
		return nil
	}
	switch {
	case n.release != nil:
		return e.resolveRelease(n)
	case n.app != nil:
		return e.resolveApplication(n)
	}
	if n.set != nil {
		return e.resolveSet(n)
	}
	n.resolving = true
	defer func() { n.resolving = false }()
	if err := e.resolveSource(n); err != nil || n.root.Unit.Problem != nil {
		return err
	}
	n.resolved = true
	return e.resolveVariables(n)
}

// resolveSource finds the part of the tree that the source of a unit contains, or sets the reason why there is none.
func (e *expander) resolveSource(n *node) error {
	ref := n.object.SourceRef()
	if ref.Kind == artifactKind {
		return e.resolveArtifact(n, ref)
	}
	found, ok, err := e.lookUp(n.cluster, ref)
	if err != nil {
		return err
	}
	checkout, why, elsewhere := e.checkout(n.cluster, ref, found, ok)
	if elsewhere != nil {
		for _, field := range [...]string{"commit", "name", "digest", "semver", "tag", "branch"} {
			n.root.Unit.Revision = append(n.root.Unit.Revision, render.FieldRef{Root: found.Root, Index: found.Object.Index, Path: "spec.ref." + field})
		}
		return e.resolveElsewhere(n, checkout, why, elsewhere)
	}
	if why != "" {
		n.failSource(why)
		return nil
	}
	n.root.Unit.Checkout = checkout
	return nil
}

// failSource marks a unit as not rendered because its source contains nothing of the tree. Its directory becomes that
// of the root with its object.
func (n *node) failSource(why string) {
	n.fail(render.ProblemRefused, "spec.sourceRef", why)
	if parent := n.root.Unit.Parent; parent != (render.RootID{}) {
		n.root.Dir = parent.Dir
	}
}

// checkout returns the part of the tree that a source contains. If the source is not this repository, why is the
// reason, elsewhere is its artifact, and the checkout is a part of the artifact's files.
func (e *expander) checkout(c *cluster, ref render.ObjectRef, found objects.Held, ok bool) (out render.Checkout, why string, elsewhere *render.Artifact) {
	out.Top = "."
	s := fluxtypes.Source{}
	if ok {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(found.Object.JSON, &s); err != nil {
			return out, fmt.Sprintf("its source %s is not valid: %v", ref, err), nil
		}
	}
	self := e.isSelf(c, ref, s.Spec.URL)
	if self {
		out.Top = e.topOf(ref)
	}
	switch {
	case !self && !ok:
		return out, fmt.Sprintf("its source %s is not in the repository, so its content is not known", ref), nil
	case !self:
		why, elsewhere = fmt.Sprintf("its source %s is not this repository but %s", ref, s.Where()), s.Artifact(ref.Kind)
	case e.isNamed(ref): // at any revision
	case s.IsPinned(ref.Kind):
		why, elsewhere = fmt.Sprintf("its source %s has the revision %s of this repository, not what the change makes of it", ref, s.Revision()), s.Artifact(ref.Kind)
	case !c.self[ref] && ref.Kind == "GitRepository" && c.isOtherBranch(s.Branch()):
		why, elsewhere = fmt.Sprintf("its source %s has the branch %s of this repository, another one than the cluster", ref, s.Branch()), s.Artifact(ref.Kind)
	}
	switch {
	case len(s.Spec.Include) > 0:
		return out, fmt.Sprintf("its source %s includes other sources, which is not supported", ref), nil
	case why != "" && elsewhere == nil:
		return out, why + ", which is not fetched: only git repositories and OCI artifacts are", nil
	}
	if s.Spec.Ignore != nil {
		out.Ignore, out.HasIgnore = *s.Spec.Ignore, true
	}
	for _, dir := range s.Spec.Sparse {
		out.Only = append(out.Only, path.Join(out.Top, paths.InTree(dir)))
	}
	if why == "" {
		out.Revision = s.Revision()
	}
	return out, why, elsewhere
}

// isSelf reports whether a source is this repository.
func (e *expander) isSelf(c *cluster, ref render.ObjectRef, url string) bool {
	return c.self[ref] || e.isNamed(ref) || url != "" && (c.urls[fluxtypes.Address(url)] || e.isRemote(url))
}

// isNamed reports whether the options name a source as this repository.
func (e *expander) isNamed(ref render.ObjectRef) bool {
	_, ok := e.opts.SourcePaths[ref.String()]
	return ok || slices.Contains(e.opts.Self, ref.String())
}

// topOf returns the directory of the tree that is the top of a source.
func (e *expander) topOf(ref render.ObjectRef) string {
	return paths.InTree(e.opts.SourcePaths[ref.String()])
}

// isRemote reports whether a URL is that of this repository.
func (e *expander) isRemote(url string) bool {
	same := func(other string) bool { return fluxtypes.Address(other) == fluxtypes.Address(url) }
	return slices.ContainsFunc(e.opts.Remotes, same) || slices.ContainsFunc(e.opts.Self, same)
}

// lookUp finds an object in a cluster: in rendered units, in roots that are applied by hand, and in units that may hold
// it, which it renders.
func (e *expander) lookUp(c *cluster, ref render.ObjectRef) (objects.Held, bool, error) {
	if o, ok := e.known(c, ref); ok {
		return o, true, nil
	}
	mention := render.Mention{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}
	searched := e.searchedFor(c, ref)
	for _, n := range slices.Clone(e.nodes) {
		if n.root.Unit.Cluster != c.name || n.root.Unit.Problem != nil || searched[n] || n.release != nil || n.excluded != "" || !n.resolved && (n.object == nil || !c.self[n.object.SourceRef()]) {
			continue
		}
		searched[n] = n.resolved && !n.resolving
		if e.resultOf(n) != nil || !e.mayHold(e.withoutVariables(n), mention) {
			continue
		}
		if err := e.renderHolder(n); err != nil {
			return objects.Held{}, false, err
		}
		if o, ok := e.known(c, ref); ok {
			return o, true, nil
		}
	}
	return objects.Held{}, false, nil
}

// renderHolder renders a unit that may hold an object: with its variables, unless they are being looked up.
func (e *expander) renderHolder(n *node) error {
	if n.object == nil || n.resolving {
		return e.renderRaw(n)
	}
	if err := e.resolve(n); err != nil || n.root.Unit.Problem != nil {
		return err
	} else if err := e.renderNodes([]*node{n}); err != nil || e.results[n.root.RootID].Problem == nil {
		return err
	}
	return e.renderRaw(n)
}

// search is an object to find in a cluster.
type search struct {
	cluster *cluster
	ref     render.ObjectRef
}

// searchedFor returns the units in which an object was looked for; the value is set if the unit was resolved by then.
func (e *expander) searchedFor(c *cluster, ref render.ObjectRef) map[*node]bool {
	if e.searched[search{c, ref}] == nil {
		e.searched[search{c, ref}] = map[*node]bool{}
	}
	return e.searched[search{c, ref}]
}

// known finds an object among the rendered objects of a cluster. An object that units apply is what they make of it,
// even if it was applied by hand before.
func (e *expander) known(c *cluster, ref render.ObjectRef) (objects.Held, bool) {
	for _, n := range e.nodes {
		if r := e.resultOf(n); n.root.Unit.Cluster == c.name && r != nil {
			if o, ok := e.indexOf(r)[ref]; ok {
				return o, true
			}
		}
	}
	for _, id := range c.bootstrap {
		if r := e.results[id]; r != nil {
			if o, ok := e.indexOf(r)[ref]; ok {
				return o, true
			}
		}
	}
	if i := slices.IndexFunc(c.made, func(o objects.Held) bool { return o.Ref() == ref }); i >= 0 {
		return c.made[i], true
	}
	return objects.Held{}, false
}

// resultOf returns the result of a unit; nil if it was not rendered. It is without variables as long as they are not
// known, or if the unit does not render with them.
func (e *expander) resultOf(n *node) *render.Result {
	r, raw := e.results[n.root.RootID], e.raw[n]
	if raw != nil && (r == nil && (n.resolving || raw.Root.RootID == n.root.RootID) || r != nil && r.Problem != nil) {
		return raw
	}
	return r
}

// renderRaw renders a unit without its variables, which may not be known yet.
func (e *expander) renderRaw(n *node) error {
	results, err := e.opts.Render(e.ctx, []render.Root{e.withoutVariables(n)})
	if err != nil {
		return err
	}
	e.raw[n] = results[0]
	return nil
}

// withoutVariables returns the root of a unit without substitution.
func (e *expander) withoutVariables(n *node) render.Root {
	switch {
	case n.object == nil, n.resolved && n.object.Spec.PostBuild == nil:
		return n.root
	case n.plain != nil:
		return *n.plain
	}
	root, u := n.root, *n.root.Unit
	u.Variables = nil
	u.Object = flux.WithoutPostBuild(u.Object)
	root.Unit = &u
	root.Cluster += WithoutVariables // another identity, because the result differs
	n.plain = &root
	return root
}
