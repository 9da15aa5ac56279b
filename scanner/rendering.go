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

// renderTrees renders every root of the head and of the base, the base's only
// where it can differ: a root whose files are the same in both trees is rendered
// once and its objects are those of both.
func (s *scan) renderTrees(ctx context.Context) error {
	if err := s.renderSide(ctx, s.head, nil); err != nil {
		return err
	}
	if s.base == nil {
		return nil
	}
	return s.renderSide(ctx, s.base, s.head)
}

// renderSide renders the roots of to, taking what is the same from like.
func (s *scan) renderSide(ctx context.Context, to, like *side) error {
	roots := to.found.Roots
	results := make([]*rendered, len(roots))
	err := s.each(ctx, "render "+to.name, len(roots), func(ctx context.Context, i int) error {
		if results[i] = unchanged(to, like, roots[i]); results[i] == nil {
			results[i] = to.render(ctx, roots[i])
		}
		return nil
	})
	for i, r := range results {
		to.roots[roots[i].Path] = r
	}
	return err
}

// unchanged returns how root rendered in the other tree if it must render the same
// in this one, else nil.
func unchanged(to, like *side, root render.Root) *rendered {
	if like == nil {
		return nil
	}
	other := like.roots[root.Path]
	if other == nil || other.Problem != nil || !sameRoot(other.Root, root) || !other.Trace.Valid(to.tree.FS) {
		return nil
	}
	return other
}

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
		r := s.roots[root.Path]
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
		return []render.Root{{Path: path.Dir(name), Kind: render.KindPlain, Files: []string{name}}}, nil
	}
	roots := []render.Root{}
	for _, root := range s.found.Roots {
		if under(name, root.Path) {
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
	root := render.Root{Path: dir, Kind: render.KindPlain}
	for _, entry := range entries {
		if isKustomization(entry.Name()) {
			return []render.Root{{Path: dir, Kind: render.KindKustomize}}, nil
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
