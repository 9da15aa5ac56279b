package deploy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/copies"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/fluxtypes"
)

// artifactKind is the kind of the sources that an ArtifactGenerator makes.
const artifactKind = "ExternalArtifact"

var generatorKind = schema.GroupKind{Group: "source.extensions.fluxcd.io", Kind: "ArtifactGenerator"}

// resolveArtifact finds the part of the tree that an ExternalArtifact contains.
func (e *expander) resolveArtifact(n *node, ref render.ObjectRef) error {
	o, g, why, err := e.generatorOf(n.cluster, ref)
	if err != nil {
		return err
	}
	if why != "" {
		n.failSource(fmt.Sprintf("its source %s %s", ref, why))
		return nil
	}
	checkout, part, why, err := e.partOf(n.cluster, o, g, ref.Name)
	if err != nil {
		return err
	}
	var dir string
	if why == "" {
		dir, why = part.Dir(n.root.Dir)
	}
	if why != "" {
		n.failSource(fmt.Sprintf("its source %s is made by %s %s", ref, o.Ref(), why))
		return nil
	}
	n.root.Unit.Checkout, n.root.Dir = checkout, dir
	return nil
}

// generatorOf returns the ArtifactGenerator of an ExternalArtifact. If it is not known or unusable, why is the reason.
func (e *expander) generatorOf(c *cluster, ref render.ObjectRef) (by objects.Held, of *copies.Generator, why string, err error) {
	found, err := e.generators(c, ref.Namespace)
	if err != nil {
		return by, nil, "", err
	}
	why = "is made by nothing in the repository that is known"
	for _, o := range found {
		g, err := copies.Parse(o.Object.JSON)
		if err != nil {
			continue
		}
		unclear := g.MayHoldOthers()
		if unknown := o.Object.UnknownSpec(); unknown != "" {
			unclear = "of which not all is known: " + unknown
		}
		_, ok := g.Artifact(ref.Name)
		switch stopped := g.Stopped(); {
		case !ok && unclear != "" && of == nil:
			why = fmt.Sprintf("may be made by %s %s", o.Ref(), unclear)
		case !ok:
		case unclear != "":
			return o, g, fmt.Sprintf("is made by %s %s", o.Ref(), unclear), nil
		case stopped != "":
			return o, g, fmt.Sprintf("is made by %s, %s", o.Ref(), stopped), nil
		case of != nil && by.Ref() != o.Ref():
			return o, g, fmt.Sprintf("is made by %s and by %s", by.Ref(), o.Ref()), nil
		case of == nil:
			by, of, why = o, g, ""
		}
	}
	return by, of, why, nil
}

// generators returns the ArtifactGenerators of a namespace.
func (e *expander) generators(c *cluster, namespace string) ([]objects.Held, error) {
	var found []objects.Held
	for _, n := range e.nodes {
		if n.root.Unit.Cluster != c.name || n.root.Unit.Problem != nil || n.object == nil {
			continue
		}
		if e.resultOf(n) == nil && e.mayHold(e.withoutVariables(n), render.Mention{Group: generatorKind.Group, Kind: generatorKind.Kind}) {
			if err := e.renderHolder(n); err != nil {
				return nil, err
			}
		}
		found = append(found, objects.Of(e.resultOf(n), generatorKind)...)
	}
	for _, id := range c.bootstrap {
		found = append(found, objects.Of(e.results[id], generatorKind)...)
	}
	var in []objects.Held
	for _, o := range found {
		if o.Ref().Namespace == namespace {
			in = append(in, o)
		}
	}
	return in, nil
}

// partOf returns the part of the tree that an artifact of a generator is copied from. If there is none, why is the
// reason.
func (e *expander) partOf(c *cluster, o objects.Held, g *copies.Generator, name string) (out render.Checkout, part copies.Part, why string, err error) {
	a, _ := g.Artifact(name)
	all, why := a.Copies()
	if why != "" {
		return out, part, why, nil
	}
	for i, entry := range all {
		checkout, why, err := e.aliased(c, o, g, entry.Alias)
		if err != nil || why != "" {
			return out, part, why, err
		}
		if i > 0 && !checkout.Same(out) {
			return out, part, "of several sources, which is not supported", nil
		}
		out = checkout
	}
	seen, err := e.sourceTree(&render.Unit{Checkout: out})
	if err != nil {
		return out, part, fmt.Sprintf("of a source that cannot be read: %v", err), nil
	}
	if part, why = copies.PartOf(seen, out.Top, all); why != "" {
		return out, part, why, nil
	}
	out.Source, out.Top, out.Only = out.Top, part.Top, part.Only
	out.Ignore, out.HasIgnore = strings.Join([]string{out.Ignore, flux.DefaultIgnore}, "\n"), true
	return out, part, "", nil
}

// aliased returns the files of the source that an ArtifactGenerator refers to by an alias.
func (e *expander) aliased(c *cluster, o objects.Held, g *copies.Generator, alias string) (out render.Checkout, why string, err error) {
	s, ok := g.Source(alias)
	if !ok {
		return out, fmt.Sprintf("from an unknown alias %q", alias), nil
	}
	ref := render.ObjectRef{Group: fluxtypes.SourceGroup, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
	if ref.Namespace == "" {
		ref.Namespace = o.Ref().Namespace
	}
	found, ok, err := e.lookUp(c, ref)
	if err != nil {
		return out, "", err
	}
	out, why, _ = e.checkout(c, ref, found, ok) // for another repository, why is set
	if why == "" && len(out.Only) > 0 {
		why = "of a sparse checkout, which is not supported"
	}
	if why != "" {
		why = "and " + why
	}
	return out, why, nil
}
