package change

import (
	"bytes"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// findWritten finds the units whose objects are written at or below the directories that the user named,
// and the units that these apply.
func (c *Change) findWritten(ctx context.Context) {
	c.written = map[render.RootID][]string{}
	for _, name := range c.under {
		name = path.Clean(name)
		for _, from := range c.Trees() {
			if name == "." || from.isFile(name) {
				continue
			}
			below := func(file string) bool { return Under(name, file) }
			for _, root := range from.Found.Roots {
				if from.isWritten(ctx, root, below) {
					c.written[from.ID(root)] = append(c.written[from.ID(root)], name)
				}
			}
		}
	}
}

// IsOf reports whether a root is at or below a path, is applied by an object written there, or reads the
// path.
func (c *Change) IsOf(id render.RootID, name string) bool {
	return slices.ContainsFunc(NamesOf(id), func(dir string) bool { return Under(name, dir) }) ||
		slices.Contains(c.users[id], path.Clean(name)) || slices.Contains(c.written[id], path.Clean(name))
}

// parents returns the units that apply a root: its own, the unit that applies that one, and so on.
func (s *Side) parents(root render.Root) []*render.Unit {
	var units []*render.Unit
	for seen := map[render.RootID]bool{}; root.Unit != nil && !seen[root.RootID]; {
		seen[root.RootID] = true
		units = append(units, root.Unit)
		root, _ = s.known(root.Unit.Parent)
	}
	return units
}

// isWritten reports whether the object of a root's unit, or of a unit that applies it, is written in one
// of some files.
func (s *Side) isWritten(ctx context.Context, root render.Root, in func(file string) bool) bool {
	return slices.ContainsFunc(s.parents(root), func(u *render.Unit) bool {
		parent, ok := s.known(u.Parent)
		return ok && s.readsAny(parent, in) && in(documentOf(ctx, u, u.Parent, u.Index))
	})
}

func (s *Side) readsAny(root render.Root, in func(file string) bool) bool {
	needs, _ := s.Needs(root)
	return slices.ContainsFunc(root.Files, in) || slices.ContainsFunc(slices.Collect(maps.Keys(needs.Trace.Reads)), in)
}

// documentOf returns the file that an object is written in, according to a unit.
func documentOf(ctx context.Context, u *render.Unit, root render.RootID, index int) string {
	if u.Origins == nil || root == (render.RootID{}) {
		return ""
	}
	o, err := u.Origins(ctx, root, index)
	if err != nil || o == nil {
		return ""
	}
	return path.Clean(o.Document().Path)
}

// isAppliedBy reports whether a file decides a unit that applies a root: the unit's object, a variable or
// a value is written there, or the file decides objects that the unit's parent renders.
func (s *Side) isAppliedBy(ctx context.Context, root render.Root, name string) bool {
	return slices.ContainsFunc(s.parents(root), func(u *render.Unit) bool {
		fields := []render.FieldRef{{Root: u.Parent, Index: u.Index}}
		for _, v := range u.Variables {
			fields = append(fields, v.Written)
		}
		for _, in := range u.Inputs {
			fields = append(fields, in.Written)
		}
		if u.Release != nil {
			fields = append(fields, u.Release.Named...)
			for _, r := range u.Release.References {
				fields = append(fields, r.Written)
			}
		}
		for _, f := range fields {
			if from, ok := s.known(f.Root); ok && s.reads(from, name) && documentOf(ctx, u, f.Root, f.Index) == name {
				return true
			}
		}
		parent, ok := s.known(u.Parent)
		return ok && s.reads(parent, name) && (s.decidesOthers(parent, name) || !holdsObject(ctx, u, name))
	})
}

// holdsObject reports whether an object that a unit's parent renders is written in a file.
func holdsObject(ctx context.Context, u *render.Unit, name string) bool {
	for i := 0; u.Origins != nil; i++ {
		o, err := u.Origins(ctx, u.Parent, i)
		if err != nil || o == nil {
			return false
		}
		if path.Clean(o.Document().Path) == name {
			return true
		}
	}
	return false
}

// DecidesOthers reports whether a file may decide objects of a root that are not written in it.
func (c *Change) DecidesOthers(id render.RootID, name string) bool {
	return slices.ContainsFunc(c.Trees(), func(from *Side) bool {
		root, ok := from.Root(id)
		return ok && from.reads(root, name) && from.decidesOthers(root, name)
	})
}

// defines matches definitions in a template that other templates may use.
var defines = regexp.MustCompile(`\{\{-?\s*(define|block)\b`)

// decidesOthers reports whether a file that a root reads may decide objects that are written in other
// files: it is a kustomization, a kustomization uses it as more than a resource or copies fields between
// objects, or it is a template that others use.
func (s *Side) decidesOthers(root render.Root, name string) bool {
	if tree.IsKustomizationName(path.Base(name)) {
		return true
	}
	files := s.Renderer.Tree()
	text, err := files.Read(files.RealOr(name))
	if err == nil && defines.Match(text) {
		return true
	}
	isTemplate := strings.Contains("/"+path.Dir(name)+"/", "/templates/")
	needs, _ := s.Needs(root)
	for file := range needs.Trace.Reads {
		isKustomization := tree.IsKustomizationName(path.Base(file))
		if file == name || !isKustomization && !isTemplate {
			continue
		}
		data, err := files.Read(file)
		switch {
		case err != nil: // a directory or a link, or the root fails to render because of it
		case isKustomization && uses(data, path.Dir(file), name):
			return true
		case isTemplate && bytes.Contains(data, []byte("{{")) && bytes.Contains(data, []byte(path.Base(name))):
			return true
		}
	}
	return false
}

// uses reports whether a kustomization in a directory may copy values between objects, or uses a file as
// more than a resource.
func uses(kustomization []byte, dir, name string) bool {
	var k map[string]any
	if yaml.Unmarshal(kustomization, &k) != nil {
		return true
	}
	for _, field := range []string{"replacements", "vars", "transformers", "generators"} {
		if k[field] != nil {
			return true
		}
	}
	delete(k, "resources")
	delete(k, "bases")
	var names func(value any) bool
	names = func(value any) bool {
		switch v := value.(type) {
		case string:
			_, file, _ := strings.Cut(v, "=") // KEY=FILE of a generator
			return path.Join(dir, v) == name || path.Join(dir, file) == name
		case []any:
			return slices.ContainsFunc(v, names)
		case map[string]any:
			return slices.ContainsFunc(slices.Collect(maps.Values(v)), names)
		}
		return false
	}
	return names(k)
}
