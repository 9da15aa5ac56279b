package render

import (
	"maps"
	"slices"
	"strings"
)

// Inputs are what a root is made of, as far as its files tell without rendering it.
type Inputs struct {
	// Trace holds everything that rendering the root may read or miss.
	Trace Trace
	// Problem is why the root is not rendered, when that is known beforehand: it
	// would be refused, or bases form a cycle.
	Problem *Problem

	// free is set when what the root renders to may hold words that none of its
	// files does: they are put together by replacements, vars or plugins.
	free bool
	// named is set when names are put together: by prefixes, suffixes, generators.
	named bool
}

// Inputs tells what a root is made of. It costs little more than to follow the
// kustomization files; those, and where they lead, are read once for all roots.
func (r *Renderer) Inputs(root Root) *Inputs {
	if root.Kind == KindPlain {
		in := &Inputs{Trace: newTrace()}
		for _, name := range root.Files {
			r.tree.traceFile(name, in.Trace)
		}
		return in
	}
	if in, ok := r.inputs.Load(root.Path); ok {
		return in.(*Inputs)
	}
	in, _ := r.inputs.LoadOrStore(root.Path, r.kustomizeInputs(root))
	return in.(*Inputs)
}

func (r *Renderer) kustomizeInputs(root Root) *Inputs {
	in := &Inputs{Trace: newTrace()}
	c := r.tree.walk(root.Path, in.Trace)
	r.tree.traceEntries(c, in.Trace)
	in.Problem = c.problem()
	for _, k := range c.files {
		s := &k.spec
		in.free = in.free || k.err != nil || len(s.Replacements)+len(s.Vars)+len(s.Configurations)+
			len(s.Generators)+len(s.Transformers)+len(s.OpenAPI) > 0
		in.named = in.named || s.NamePrefix != "" || s.NameSuffix != "" || len(s.ConfigMapGenerator)+len(s.SecretGenerator) > 0
	}
	return in
}

// Mention is what the objects looked for have in common: their kind, or any when
// it is empty, and a word that each of them holds, such as its name.
type Mention struct{ Kind, Word string }

// MayHold tells whether a root may render to objects that are mentioned, going by
// the text of its files. It is false only when that is certain.
func (r *Renderer) MayHold(in *Inputs, m Mention) bool {
	if in.free {
		return true
	}
	kind, word := m.Kind == "", m.Word == "" || in.named
	for _, name := range slices.Sorted(maps.Keys(in.Trace.Reads)) {
		if kind && word {
			return true
		}
		if strings.HasPrefix(in.Trace.Reads[name], linkMark) {
			continue
		}
		if !kind {
			kind = r.tree.mentions(name, kindWord, m.Kind)
		}
		if !word {
			word = r.tree.mentions(name, anyWord, m.Word)
		}
	}
	return kind && word
}
