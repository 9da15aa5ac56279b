package main

import (
	"fmt"
	"io"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/spf13/pflag"
)

// cacheFlags say where rendered roots are kept.
type cacheFlags struct {
	dir string
	// size is in MiB.
	size int64
}

// register declares the flags.
func (f *cacheFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "cache-dir", "", "keep what roots render to in this `DIR`, and take from there what did not change")
	flags.Int64Var(&f.size, "cache-size", 512, "the `MIB` to which that directory is cut at the end")
}

// open opens the cache; nil when none is asked for.
func (f *cacheFlags) open(given func(string) bool) (*render.Cache, error) {
	switch {
	case given("cache-dir") && f.dir == "":
		return nil, usagef("--cache-dir is empty: give a directory")
	case given("cache-size") && f.dir == "":
		return nil, usagef("--cache-size needs --cache-dir")
	case f.size < 1:
		return nil, usagef("--cache-size: %d MiB is not a size, want at least 1", f.size)
	case f.dir == "":
		return nil, nil
	}
	cache, err := render.OpenCache(f.dir, f.size<<20)
	if err != nil {
		return nil, usagef("--cache-dir: %w", err)
	}
	return cache, nil
}

// closeCache cuts a cache to its size. What is wrong with it costs time, not
// verdicts, so it is a warning.
func closeCache(stderr io.Writer, cache *render.Cache) {
	if cache == nil {
		return
	}
	for _, err := range []error{cache.Failure(), cache.Trim()} {
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "preadmit: warning: the cache could not be written: %s\n", report.Line(err.Error()))
			return
		}
	}
}
