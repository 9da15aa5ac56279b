package deploy

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/fluxtypes"

	kjson "sigs.k8s.io/json"
)

// artifactKind is the kind of a source that an ArtifactGenerator makes.
const artifactKind = "ExternalArtifact"

var generatorKind = schema.GroupKind{Group: "source.extensions.fluxcd.io", Kind: "ArtifactGenerator"}

// generator is an ArtifactGenerator: it makes sources of parts of others.
type generator struct {
	Spec struct {
		Sources []struct {
			Alias     string `json:"alias"`
			Kind      string `json:"kind"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"sources"`
		Artifacts []struct {
			Name string            `json:"name"`
			Copy []json.RawMessage `json:"copy"`
		} `json:"artifacts"`
	} `json:"spec"`
}

// copied is an entry of `copy:`, all of whose fields are known here.
type copied struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// resolveArtifact finds the part of the tree that an ExternalArtifact has.
func (e *expander) resolveArtifact(n *node, ref render.ObjectRef) error {
	found, err := e.generators(n.cluster, ref.Namespace)
	if err != nil {
		return err
	}
	for _, o := range found {
		g := &generator{}
		if kjson.UnmarshalCaseSensitivePreserveInts(o.object.JSON, g) != nil {
			continue
		}
		for i, a := range g.Spec.Artifacts {
			if a.Name != ref.Name {
				continue
			}
			checkout, why, err := e.copies(n.cluster, o, g, i)
			if err != nil {
				return err
			}
			if why != "" {
				n.without(fmt.Sprintf("its source %s is made by %s %s", ref, o.ref(), why))
				return nil
			}
			n.root.Unit.Checkout = checkout
			n.root.Dir = path.Join(checkout.Top, n.root.Dir)
			return nil
		}
	}
	n.without(fmt.Sprintf("its source %s is made by nothing in the repository that is known", ref))
	return nil
}

// generators are the ArtifactGenerators of a namespace.
func (e *expander) generators(c *cluster, namespace string) ([]held, error) {
	var found []held
	for _, n := range e.nodes {
		if n.root.Unit.Cluster != c.name || n.root.Unit.Problem != nil || n.object == nil {
			continue
		}
		if e.resultOf(n) == nil && e.mayHold(e.withoutVariables(n), render.Mention{Group: generatorKind.Group, Kind: generatorKind.Kind}) {
			if err := e.renderRaw(n); err != nil {
				return nil, err
			}
		}
		found = append(found, holds(e.resultOf(n), generatorKind)...)
	}
	for _, id := range c.bootstrap {
		found = append(found, holds(e.results[id], generatorKind)...)
	}
	var in []held
	for _, o := range found {
		if o.ref().Namespace == namespace {
			in = append(in, o)
		}
	}
	return in, nil
}

// copies returns the part of the tree that copies make an artifact of, if everything keeps its
// place below one directory; why says what is not understood.
func (e *expander) copies(c *cluster, o held, g *generator, artifact int) (out render.Checkout, why string, err error) {
	for i, raw := range g.Spec.Artifacts[artifact].Copy {
		var entry copied
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.DisallowUnknownFields()
		if decoder.Decode(&entry) != nil {
			return out, fmt.Sprintf("with copies that are not supported: only `from: \"@ALIAS/DIRECTORY/**\"` and `to: \"@artifact/DIRECTORY/\"` are (copy %d)", i+1), nil
		}
		alias, dir, ok := cutAlias(entry.From)
		dir, all := strings.CutSuffix(dir, "/**")
		if dir == "**" {
			dir, all = ".", true
		}
		top, to, ok2 := cutAlias(entry.To)
		if !ok || !ok2 || !all || top != "artifact" || strings.ContainsAny(dir, "*?[{") {
			return out, fmt.Sprintf("from %q to %q, which is not supported", entry.From, entry.To), nil
		}
		dir, to = path.Clean(dir), path.Clean("/" + to)[1:]
		prefix, same := strings.CutSuffix("/"+dir, "/"+to)
		if to == "" {
			prefix, same = "/"+dir, true
		}
		from := path.Join(".", strings.TrimPrefix(prefix, "/"))
		if !same || i > 0 && out.Top != from {
			return out, fmt.Sprintf("from %q to %q, another place than the other files have: that is not supported", entry.From, entry.To), nil
		}
		checkout, why, err := e.aliased(c, o, g, alias)
		if err != nil || why != "" {
			return out, why, err
		}
		only := append(out.Only, dir)
		out = checkout
		out.Top, out.Only = from, only
	}
	if len(out.Only) == 0 {
		return out, "of nothing", nil
	}
	return out, "", nil
}

// cutAlias cuts `@alias/rest`.
func cutAlias(name string) (alias, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, "@")
	alias, rest, _ = strings.Cut(name, "/")
	return alias, rest, ok
}

// aliased returns what a source has that an ArtifactGenerator calls by an alias.
func (e *expander) aliased(c *cluster, o held, g *generator, alias string) (out render.Checkout, why string, err error) {
	for _, s := range g.Spec.Sources {
		if s.Alias != alias {
			continue
		}
		ref := render.ObjectRef{Group: fluxtypes.SourceGroup, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
		if ref.Namespace == "" {
			ref.Namespace = o.ref().Namespace
		}
		found, ok, err := e.lookUp(c, ref)
		if err != nil {
			return out, "", err
		}
		out, why, _ = e.checkout(c, ref, found, ok) // of what is elsewhere why says it
		if why == "" && len(out.Only) > 0 {
			why = "of a sparse checkout, which is not supported"
		}
		if why != "" {
			why = "and " + why
		}
		return out, why, nil
	}
	return out, fmt.Sprintf("from an unknown alias %q", alias), nil
}
