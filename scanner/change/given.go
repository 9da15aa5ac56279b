package change

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// RenderGiven renders the content of a path of the configuration: a file, or the roots at and below
// a directory. It returns nothing for a path that does not exist.
func (s *Side) RenderGiven(ctx context.Context, name string) ([]*Rendered, error) {
	name = path.Clean(name)
	if results, ok := s.Given[name]; ok {
		return results, nil
	}
	roots, err := s.givenRoots(name)
	if err != nil {
		return nil, err
	}
	results := []*Rendered{}
	for _, root := range roots {
		r := s.Roots[s.ID(root)]
		if r == nil || !SameRoot(r.Root, root) {
			r = s.Render(ctx, root)
		}
		results = append(results, r)
	}
	s.Given[name] = results
	return results, nil
}

func (s *Side) givenRoots(name string) ([]render.Root, error) {
	info, err := fs.Stat(s.Files, name)
	switch {
	case err != nil:
		// The caller checks whether the other side has it.
		return nil, nil
	case !info.IsDir():
		return []render.Root{{RootID: render.RootID{Kind: render.KindPlain, Dir: path.Dir(name)}, Files: []string{name}}}, nil
	}
	roots := []render.Root{}
	for _, root := range s.discovered {
		if Under(name, root.Dir) {
			roots = append(roots, root)
		}
	}
	if len(roots) > 0 {
		return roots, nil
	}
	return s.plainFiles(name)
}

// plainFiles makes a root of a directory that is not a root because kustomizations elsewhere use it
// or its files: of its kustomization if it has one, else of its YAML and JSON files.
func (s *Side) plainFiles(dir string) ([]render.Root, error) {
	entries, err := fs.ReadDir(s.Files, dir)
	if err != nil {
		return nil, fmt.Errorf("read directory %s of %s: %w", dir, s.Name, err)
	}
	root := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: dir}}
	for _, entry := range entries {
		if tree.IsKustomizationName(entry.Name()) {
			return []render.Root{{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}}}, nil
		}
		if tree.IsManifestName(entry.Name()) && !entry.IsDir() {
			root.Files = append(root.Files, path.Join(dir, entry.Name()))
		}
	}
	if len(root.Files) == 0 {
		return nil, nil
	}
	return []render.Root{root}, nil
}
