package scan

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/format/escape"
)

// CacheFlags are the flags of the cache of rendered roots.
type CacheFlags struct {
	dir string
	// size is in MiB.
	size int64
}

// Dir returns the directory of the cache, empty if there is none.
func (f *CacheFlags) Dir() string { return f.dir }

// Register declares the flags.
func (f *CacheFlags) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "cache-dir", "", "store rendered objects in this `DIR`, and reuse those that did not change")
	flags.Int64Var(&f.size, "cache-size", 512, "largest size of that directory after a run, in `MIB`")
}

// OpenCache opens the cache. It returns nil without --cache-dir.
func (f *Flags) OpenCache() (*render.Cache, error) { return f.openCache("") }

// openCache is OpenCache, but uses the directory own, if any, when no flag names one.
func (f *Flags) openCache(own string) (*render.Cache, error) {
	cache, given := f.Cache, f.Given
	switch {
	case given("cache-dir") && cache.dir == "":
		return nil, cli.Usagef("--cache-dir is empty: give a directory")
	case given("cache-size") && cache.dir == "":
		return nil, cli.Usagef("--cache-size needs --cache-dir")
	case cache.size < 1:
		return nil, cli.Usagef("--cache-size: %d MiB is not a size, want at least 1", cache.size)
	case cache.dir == "" && own == "":
		return nil, nil
	case cache.dir == "":
		return render.OpenCache(own, cache.size<<20)
	}
	if tree := f.treeAround(cache.dir); tree != "" {
		return nil, cli.Usagef("--cache-dir: %s is inside %s, which is scanned, so that a change could add entries and decide verdicts; use a directory outside of it",
			cache.dir, tree)
	}
	opened, err := render.OpenCache(cache.dir, cache.size<<20)
	if err != nil {
		return nil, cli.Usagef("--cache-dir: %w", err)
	}
	return opened, nil
}

// treeAround returns the scanned tree that contains a directory, empty if none does.
func (f *Flags) treeAround(dir string) string {
	trees := []string{f.BasePath}
	for _, path := range f.paths() {
		if path == "-" {
			continue // stdin
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			path = filepath.Dir(path)
		}
		trees = append(trees, path)
		if repository, err := gittree.Open(path); err == nil {
			trees = append(trees, repository.Root())
		}
	}
	dir = realPath(dir)
	for _, tree := range trees {
		if tree == "" {
			continue
		}
		if rel, err := filepath.Rel(realPath(tree), dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return tree
		}
	}
	return ""
}

// realPath returns a path without symbolic links, as far as the path exists.
func realPath(name string) string {
	name, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	if parent := filepath.Dir(name); parent != name {
		return filepath.Join(realPath(parent), filepath.Base(name))
	}
	return name
}

// CloseCache trims a cache to its size. It prints an error as a warning, since it costs time
// but changes no verdict.
func CloseCache(stderr io.Writer, cache *render.Cache) {
	if cache == nil {
		return
	}
	for _, err := range []error{cache.Failure(), cache.Trim()} {
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "preadmit: warning: the cache could not be written: %s\n", escape.Line(err.Error()))
			return
		}
	}
}
