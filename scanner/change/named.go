package change

import (
	"context"
	"io/fs"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Named is a file that the user named and no root reads.
type Named struct {
	Path string
	// Alone is set if the file is judged as it is written.
	Alone bool
	// Unclaimed are the directories of roots that read the file, but that no deployer applies.
	Unclaimed []string
}

// findNamed finds the roots that read the files that the user named, and the roots whose units these
// files decide. A file that no root reads is judged by itself.
func (c *Change) findNamed(ctx context.Context) {
	c.users, c.applied = map[render.RootID][]string{}, map[render.RootID]bool{}
	for _, name := range c.namedFiles() {
		used := false
		for _, from := range c.Trees() {
			for _, root := range from.Found.Roots {
				id, applied := from.ID(root), from.isAppliedBy(ctx, root, name)
				if applied || from.reads(root, name) {
					used = true
					c.users[id] = append(c.users[id], name)
				}
				if applied {
					c.applied[id] = true
				}
			}
		}
		if !used {
			c.Named = append(c.Named, c.alone(name))
		}
	}
}

// namedFiles returns the files that the user named.
func (c *Change) namedFiles() []string {
	var files []string
	for _, name := range c.under {
		name = path.Clean(name)
		if slices.ContainsFunc(c.Trees(), func(from *Side) bool { return from.isFile(name) }) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (s *Side) isFile(name string) bool {
	info, err := fs.Stat(s.Files, name)
	return err == nil && !info.IsDir()
}

// reads reports whether a root reads a file.
func (s *Side) reads(root render.Root, name string) bool {
	if slices.Contains(root.Files, name) {
		return true
	}
	in, _ := s.Needs(root)
	return in.Trace.Reads[name] != ""
}

// alone makes a root of a file that no root reads, unless it belongs to a root that is not to be
// judged.
func (c *Change) alone(name string) Named {
	n := Named{Path: name}
	for _, u := range c.Unclaimed {
		if u.Side.reads(u.Root, name) {
			n.Unclaimed = append(n.Unclaimed, u.Dir)
		}
	}
	if len(n.Unclaimed) > 0 {
		return n
	}
	for _, from := range c.Trees() {
		if !from.isFile(name) {
			continue
		}
		switch root, holds := from.Renderer.File(name); holds {
		case render.HoldsObjects:
			n.Alone = true
			from.addFile(root)
		case render.HoldsTemplate:
			from.addTemplate(name)
		}
	}
	return n
}

// addFile adds a file as a root, and removes gaps for files that are in no root.
func (s *Side) addFile(root render.Root) { s.place(root, root.Dir) }

// addTemplate adds the gap of a template, unless there is one.
func (s *Side) addTemplate(name string) {
	if slices.ContainsFunc(s.Found.Gaps, func(g render.Gap) bool { return g.Path == name }) {
		return
	}
	id, _ := s.Renderer.Tree().Identity(s.Renderer.Tree().RealOr(name)) // it was read before
	found := *s.Found
	found.Gaps = append(slices.Clone(found.Gaps), render.Gap{
		Kind: render.GapTemplate, Position: tree.Position{Path: name}, Root: render.RootID{Dir: path.Dir(name)}, Identity: id,
	})
	s.Found = &found
}

// NamedBy returns the files that the user named and a root reads, or nil if the user selected all of
// the root.
func (c *Change) NamedBy(id render.RootID) []string {
	if c.Whole(id) {
		return nil
	}
	return c.users[id]
}
