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
	// lookEvery is how often files are looked at.
	lookEvery = 300 * time.Millisecond
)

// Watch is files that are looked at.
type Watch struct {
	paths, without []string
	seen           uint64
}

// NewWatch looks at the files at or below paths, but for those below the directories of without.
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

// Follow calls changed each time that files were saved since NewWatch: once they stay as they are. It
// returns when ctx ends, or with the error of changed.
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

// stamp returns what differs when a file is saved, made or removed. Git's own files are not looked at.
func (w *Watch) stamp() uint64 {
	h := fnv.New64a()
	for _, path := range w.paths {
		_ = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // it was removed meanwhile, or may not be read: then nothing is loaded of it
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

// realPath returns the path of a directory without symbolic links, or as it is if it is not there.
func realPath(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}
