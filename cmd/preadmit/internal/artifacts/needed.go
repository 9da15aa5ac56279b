package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/config"
)

// maxRounds bounds how often a tree is searched, each time with more artifacts fetched; it is
// the depth to which artifacts may need others. maxArtifacts bounds their number.
const (
	maxRounds    = 10
	maxArtifacts = 2000
)

// Tree is a tree that needs artifacts.
type Tree struct {
	Files  fs.FS
	Render render.Options
	// Deploy has the options for expanding units.
	Deploy deploy.Options
	// CRDs are the sources of CustomResourceDefinitions that the configuration names.
	CRDs []config.CRDSource
}

// Needed returns the artifacts that the roots and units of a tree need, each with the position
// of an entry that refers to it, as far as they can be determined with what the lock and the
// store have.
func (t *Tree) Needed(ctx context.Context, kept *store.Store, locked *lock.Lock) (map[artifact.Artifact]render.Position, error) {
	opts := t.Render
	opts.Cache = nil
	recorder := &recorder{Contents: store.NewLocked(kept, locked, nil), up: map[artifact.Artifact]bool{}}
	renderer := sources.NewRenderer(overlay.New(t.Files, recorder), opts)
	found, err := renderer.Discover(ctx)
	if err != nil {
		return nil, err
	}
	graph, err := deploy.Expand(ctx, renderer, found, t.deployOptions(renderer))
	if entry := new(paths.EntryError); errors.As(err, &entry) {
		return nil, cli.Usagef("entries of the configuration: %w", entry)
	}
	if err != nil {
		return nil, err
	}
	needed := map[artifact.Artifact]render.Position{}
	need := func(a *render.Artifact) {
		all := []artifact.Artifact{a.Requested().Plain()}
		if a.Submodules {
			all = append(all, overlay.Submodules(recorder.Contents, all[0])...)
		}
		from := a.Place()
		for _, asked := range all {
			if at := needed[asked]; at.Path == "" || tree.ComparePositions(from, at) < 0 {
				needed[asked] = from
			}
		}
	}
	for _, source := range t.CRDs {
		needed[source.Artifact()] = render.Position{Path: config.FileName, Line: max(1, source.Line), Column: 1}
	}
	for a := range recorder.up { // looked up and found, so they may have no position below
		if _, ok := needed[a]; !ok {
			needed[a] = render.Position{}
		}
	}
	for _, root := range slices.Concat(found.Roots, graph.Units, graph.Charts) {
		if u := root.Unit; u != nil && u.Artifact != nil {
			need(u.Artifact)
		}
		for _, a := range renderer.Needs(root).Artifacts {
			need(&a)
		}
	}
	return needed, ctx.Err()
}

// recorder records which artifacts are looked up. Expanding units looks up the artifacts of units.
type recorder struct {
	artifact.Contents
	mu sync.Mutex
	up map[artifact.Artifact]bool
}

func (l *recorder) record(a artifact.Artifact) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up[a] = true
}

// Tree implements artifact.Contents.
func (l *recorder) Tree(a artifact.Artifact) (fs.FS, artifact.Pin, error) {
	l.record(a)
	return l.Contents.Tree(a)
}

// Bytes implements artifact.Contents.
func (l *recorder) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	l.record(a)
	return l.Contents.Bytes(a)
}

// deployOptions returns the options for expanding units, without entry points that the tree does
// not have: the options may be for the other tree of the change.
func (t *Tree) deployOptions(renderer *render.Renderer) deploy.Options {
	opts := t.Deploy
	opts.Entries = slices.DeleteFunc(slices.Clone(opts.Entries), func(name string) bool {
		return renderer.Tree().Resolve(path.Join(".", path.Clean("/" + name)[1:])).Err != nil
	})
	opts.Render = func(ctx context.Context, roots []render.Root) ([]*render.Result, error) {
		return render.Each(ctx, roots, renderer.Render)
	}
	return opts
}

// Resolver fetches an artifact and returns its pin. An error is about this artifact only. A
// Resolver must be safe for concurrent use.
type Resolver func(context.Context, artifact.Artifact) (artifact.Pin, error)

// Found has the outcome for each artifact of a tree.
type Found struct {
	// Lock has the artifacts that were resolved.
	Lock *lock.Lock
	// Needed has all artifacts, each with the position of an entry that refers to it.
	Needed map[artifact.Artifact]render.Position
	// Failed has the artifacts that could not be resolved, with the error.
	Failed map[artifact.Artifact]error
}

func newFound() *Found {
	return &Found{Lock: &lock.Lock{}, Needed: map[artifact.Artifact]render.Position{}, Failed: map[artifact.Artifact]error{}}
}

// Artifacts returns all needed artifacts, sorted.
func (f *Found) Artifacts() []artifact.Artifact {
	return slices.SortedFunc(maps.Keys(f.Needed), artifact.Artifact.Compare)
}

// Gather resolves all artifacts that a tree needs: those that it needs itself, then those that
// these need, and so on.
func Gather(ctx context.Context, t *Tree, kept *store.Store, resolve Resolver) (*Found, error) {
	f := newFound()
	for range maxRounds {
		needed, err := t.Needed(ctx, kept, f.Lock)
		if err != nil {
			return nil, err
		}
		for a, at := range needed {
			if at.Path == "" { // the position was known in an earlier round, when it was missing
				needed[a] = f.Needed[a]
			}
		}
		f.Needed = needed
		if more, err := f.round(ctx, resolve); err != nil || !more {
			return f, err
		}
	}
	return f, nil
}

// atOnce is how many artifacts are resolved concurrently.
const atOnce = 8

// round resolves the artifacts that no earlier round tried, and reports whether there were any.
func (f *Found) round(ctx context.Context, resolve Resolver) (more bool, err error) {
	var asked []artifact.Artifact
	for i, a := range f.Artifacts() {
		if _, ok := f.Lock.Find(a); ok || f.Failed[a] != nil {
			continue
		}
		more = true
		if i >= maxArtifacts {
			f.Failed[a] = fmt.Errorf("the repository uses more than %d artifacts", maxArtifacts)
			continue
		}
		asked = append(asked, a)
	}
	pins, errs := make([]artifact.Pin, len(asked)), make([]error, len(asked))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, a := range asked {
		group.Go(func() error {
			pins[i], errs[i] = resolve(ctx, a)
			return nil
		})
	}
	_ = group.Wait() // always nil: the errors are in errs
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	for i, a := range asked {
		if errs[i] != nil {
			f.Failed[a] = errs[i]
		} else {
			f.Lock.Set(a, pins[i])
		}
	}
	return more, nil
}
