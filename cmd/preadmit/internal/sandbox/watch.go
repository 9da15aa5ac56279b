package sandbox

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"time"
)

const (
	// lookEvery is how often files are looked at.
	lookEvery = 300 * time.Millisecond
)

// Watch calls changed each time that files at or below paths were saved: once they stay as they are.
// It returns when ctx ends, or with the error of changed.
func Watch(ctx context.Context, paths []string, changed func() error) error {
	seen := stamp(paths)
	last := seen
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := stamp(paths)
		if now == last && now != seen {
			seen = now
			if err := changed(); err != nil {
				return err
			}
		}
		last = now
	}
}

// stamp returns what differs when a file at or below paths is saved, made or removed. Git's own files
// are not looked at.
func stamp(paths []string) uint64 {
	h := fnv.New64a()
	for _, path := range paths {
		_ = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // it was removed meanwhile, or may not be read: then nothing is loaded of it
			}
			if entry.IsDir() && entry.Name() == ".git" {
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
