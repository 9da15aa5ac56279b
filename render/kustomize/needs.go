package kustomize

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// Needs implements Source.
func (r *Source) Needs(root render.Root) *render.Needs {
	in := &render.Needs{Trace: tree.NewTrace(), Composition: render.Composition{Generated: map[string]bool{}}}
	c := r.walk(root.Dir, in.Trace)
	build.AddEntries(r.tree, c, in.Trace)
	in.Problem, in.Artifacts, in.Lacks = atEntry(c, r.problem(c)), c.Artifacts, lackOf(c)
	for _, k := range c.Files {
		compose(&in.Composition, k)
	}
	in.Free = in.Free || len(c.Charts) > 0
	return in
}

// Manifests implements Source.
func (r *Source) Manifests(root render.Root) render.Manifests {
	c := build.Walk(r.tree, root.Dir, tree.NewTrace())
	m := render.Manifests{Values: map[string]bool{}, Lines: map[string]bool{}, Patches: c.Weight.Patches}
	for _, e := range c.Entries {
		if e.Kind != build.RefFile || len(e.At) < 3 || e.Target == "" {
			continue
		}
		real := r.tree.Resolve(e.Target).Real
		switch used := m.Values[real] || m.Lines[real]; {
		case used:
		case e.At[2] == "files":
			m.Values[real] = true
		case e.At[2] == "envs", e.At[2] == "env":
			m.Lines[real] = true
		}
	}
	known := map[string]bool{}
	add := func(file string) {
		if !known[file] && !m.Values[file] && !m.Lines[file] {
			known[file] = true
			m.Files = append(m.Files, file)
		}
	}
	for _, k := range c.Files {
		add(k.Path)
	}
	for _, e := range c.Entries {
		if to := r.tree.Resolve(e.Target); e.Target != "" && to.Err == nil && !to.IsDir {
			add(to.Real)
		}
	}
	return m
}

// compose notes how a kustomization puts words together.
func compose(in *render.Composition, k *build.Kustomization) {
	s := &k.Spec
	in.Free = in.Free || k.Err != nil || len(s.Replacements)+len(s.Vars)+len(s.Configurations)+len(s.Crds)+
		len(s.Generators)+len(s.Transformers)+len(s.OpenAPI) > 0
	in.Patched = in.Patched || len(s.Patches)+len(s.PatchesJson6902) > 0
	for _, affix := range []string{s.NamePrefix, s.NameSuffix} {
		if affix != "" {
			in.Affixes = append(in.Affixes, affix)
		}
	}
	if len(s.ConfigMapGenerator) > 0 {
		in.Generated["ConfigMap"] = true
	}
	if len(s.SecretGenerator) > 0 {
		in.Generated["Secret"] = true
	}
}
