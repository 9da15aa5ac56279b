package scanner

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/preadmit/preadmit/render"
	"golang.org/x/sync/errgroup"
)

// each calls do for 0 to n-1, in parallel on the scan's workers, and reports
// progress.
func (s *scan) each(ctx context.Context, stage string, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.workers())
	var done atomic.Int64
	s.progress(stage, 0, n)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(ctx, i); err != nil {
				return err
			}
			s.progress(stage, int(done.Add(1)), n)
			return nil
		})
	}
	return group.Wait()
}

// spread calls do for 0 to n-1, in parallel on the scan's workers.
func (s *scan) spread(n int, do func(i int)) {
	var group errgroup.Group
	group.SetLimit(s.workers())
	for i := range n {
		group.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = group.Wait() // do does not fail
}

// renderGiven renders what a path of the configuration names in a tree: a file, or
// the roots at and below a directory. A path that is not there gives nothing.
func (s *side) renderGiven(ctx context.Context, name string) ([]*rendered, error) {
	name = path.Clean(name)
	if results, ok := s.given[name]; ok {
		return results, nil
	}
	roots, err := s.givenRoots(name)
	if err != nil {
		return nil, err
	}
	results := []*rendered{}
	for _, root := range roots {
		r := s.roots[s.id(root)]
		if r == nil || !sameRoot(r.Root, root) {
			r = s.render(ctx, root)
		}
		results = append(results, r)
	}
	s.given[name] = results
	return results, nil
}

func (s *side) givenRoots(name string) ([]render.Root, error) {
	info, err := fs.Stat(s.tree.FS, name)
	switch {
	case err != nil:
		// Whether the other side has it is for the caller to see.
		return nil, nil
	case !info.IsDir():
		return []render.Root{{RootID: render.RootID{Kind: render.KindPlain, Dir: path.Dir(name)}, Files: []string{name}}}, nil
	}
	roots := []render.Root{}
	for _, root := range s.found.Roots {
		if under(name, root.Dir) {
			roots = append(roots, root)
		}
	}
	if len(roots) > 0 {
		return roots, nil
	}
	return s.plainFiles(name)
}

// plainFiles makes a root of the manifests in a directory that is no root itself,
// because kustomizations elsewhere use it or its files: a kustomization if it is
// one, else its YAML and JSON files.
func (s *side) plainFiles(dir string) ([]render.Root, error) {
	entries, err := fs.ReadDir(s.tree.FS, dir)
	if err != nil {
		return nil, fmt.Errorf("read directory %s of %s: %w", dir, s.name, err)
	}
	root := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: dir}}
	for _, entry := range entries {
		if isKustomization(entry.Name()) {
			return []render.Root{{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}}}, nil
		}
		if isManifest(entry.Name()) && !entry.IsDir() {
			root.Files = append(root.Files, path.Join(dir, entry.Name()))
		}
	}
	if len(root.Files) == 0 {
		return nil, nil
	}
	return []render.Root{root}, nil
}

func isKustomization(name string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, name)
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name)))
}
