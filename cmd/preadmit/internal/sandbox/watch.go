package sandbox

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

const (
	// lookEvery is the polling interval.
	lookEvery = 300 * time.Millisecond
)

// Watch polls files for changes.
type Watch struct {
	paths, without []string
	seen           uint64
}

// NewWatch returns a watch of the files at or below paths, except below the directories without.
func NewWatch(paths, without []string) *Watch {
	w := &Watch{paths: paths}
	for _, dir := range without {
		if dir != "" {
			w.without = append(w.without, realPath(dir))
		}
	}
	w.seen = w.stamp()
	return w
}

// Follow calls changed each time that files have changed since NewWatch and then stayed the same for one
// interval. It returns nil when ctx ends, or the error of changed.
func (w *Watch) Follow(ctx context.Context, changed func() error) error {
	last := w.seen
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := w.stamp()
		if now == last && now != w.seen {
			w.seen = now
			if err := changed(); err != nil {
				return err
			}
		}
		last = now
	}
}

// stamp returns a hash of the names, sizes, times and modes of all files, except those in .git.
func (w *Watch) stamp() uint64 {
	h := fnv.New64a()
	for _, path := range w.paths {
		_ = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // it was removed meanwhile, or is not readable and thus not loaded
			}
			if entry.IsDir() && (entry.Name() == ".git" || name != path && slices.Contains(w.without, realPath(name))) {
				return filepath.SkipDir
			}
			if info, err := entry.Info(); err == nil && !entry.IsDir() {
				_, _ = fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
			return nil
		})
	}
	return h.Sum64()
}

// realPath returns the path of a directory without symbolic links, or only absolute if it does not exist.
func realPath(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}
