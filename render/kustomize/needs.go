package kustomize

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

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
	in.Charts = len(c.Charts) > 0
	for _, k := range c.Files {
		compose(&in.Composition, k)
	}
	in.Resources = r.resources(c)
	in.Free = in.Free || len(c.Charts) > 0 || slices.ContainsFunc(c.Entries, func(e build.Entry) bool { return r.writesAny(e, "kind", "apiVersion") })
	in.Renamed = in.Renamed || slices.ContainsFunc(c.Entries, func(e build.Entry) bool { return r.writesAny(e, "metadata") })
	return in
}

// resources returns the files of a closure that are used only as resources or as data of generators.
func (r *Source) resources(c *build.Closure) map[string]bool {
	isResource := func(e build.Entry) bool {
		return e.Kind == build.RefResource || len(e.At) > 0 && (e.At[0] == "configMapGenerator" || e.At[0] == "secretGenerator")
	}
	files := map[string]bool{}
	for _, e := range c.Entries {
		if to := r.tree.Resolve(e.Target); isResource(e) && e.Target != "" && to.Err == nil && !to.IsDir {
			files[to.Real] = true
		}
	}
	for _, e := range c.Entries {
		if !isResource(e) && e.Target != "" {
			delete(files, r.tree.RealOr(e.Target))
		}
	}
	for _, k := range c.Files {
		delete(files, k.Path)
	}
	return files
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

// compose records how a kustomization composes names, kinds and fields.
func compose(in *render.Composition, k *build.Kustomization) {
	s := &k.Spec
	in.Free = in.Free || k.Err != nil || len(s.Vars)+len(s.Crds)+len(s.Generators)+len(s.Transformers)+len(s.OpenAPI) > 0 ||
		slices.ContainsFunc(s.Replacements, func(r types.ReplacementField) bool { return replacesAny(&r.Replacement, "kind", "apiVersion") })
	in.Renamed = in.Renamed || slices.ContainsFunc(s.Replacements, func(r types.ReplacementField) bool { return replacesAny(&r.Replacement, "metadata") })
	in.Composed = in.Composed || len(s.Replacements)+len(s.Configurations) > 0
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

// replacesAny reports whether a replacement may write one of the fields of an object.
func replacesAny(r *types.Replacement, fields ...string) bool {
	return slices.ContainsFunc(r.Targets, func(t *types.TargetSelector) bool {
		return t != nil && slices.ContainsFunc(t.FieldPaths, func(path string) bool {
			first, _, _ := strings.Cut(path, ".")
			return isAny(first, fields)
		})
	})
}

// isAny reports whether the first step of a path may lead to one of the fields.
func isAny(step string, fields []string) bool {
	isPlain := strings.IndexFunc(step, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
	return !isPlain || step == "" || slices.Contains(fields, step)
}

// writesAny reports whether an entry is a file of replacements or configurations that may write one of the
// fields of an object.
func (r *Source) writesAny(e build.Entry, fields ...string) bool {
	switch {
	case len(e.At) == 0 || e.Target == "" || e.Kind != build.RefFile:
		return false
	case e.At[0] == "replacements":
		var one types.Replacement
		var all []types.Replacement
		data, _, err := r.tree.Load(e.Target, tree.NewTrace())
		if err == nil && yaml.Unmarshal(data, &one) == nil {
			return replacesAny(&one, fields...)
		}
		return err != nil || yaml.Unmarshal(data, &all) != nil || slices.ContainsFunc(all, func(r types.Replacement) bool { return replacesAny(&r, fields...) })
	case e.At[0] == "configurations":
		var content any
		data, _, err := r.tree.Load(e.Target, tree.NewTrace())
		return err != nil || yaml.Unmarshal(data, &content) != nil || configuresAny(content, fields)
	}
	return false
}

// configuresAny reports whether a path in a configuration of transformers may lead to one of the fields. Vars
// are ignored.
func configuresAny(at any, fields []string) bool {
	switch at := at.(type) {
	case map[string]any:
		for key, value := range at {
			text, isText := value.(string)
			first, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), "/")
			if isText && key == "path" && isAny(strings.TrimSuffix(first, "[]"), fields) || key != "path" && configuresAny(value, fields) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(at, func(item any) bool { return configuresAny(item, fields) })
	}
	return false
}
