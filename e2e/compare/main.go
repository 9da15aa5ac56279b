package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Exit codes.
const (
	exitSame      = 0
	exitDifferent = 1
	exitFailure   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	old, new string
	match    *regexp.Regexp
	whole    bool
	results  string
	dirs     []string
}

// Main runs the command and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitSame
	}
	if err == nil {
		var differences int
		if differences, err = compareAll(ctx, o, stdout); err == nil && differences == 0 {
			return exitSame
		}
		if err == nil {
			return exitDifferent
		}
	}
	fmt.Fprintln(stderr, "compare:", err)
	return exitFailure
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var match string
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.old, "old", "", "the program before the change, a `FILE`")
	flags.StringVar(&o.new, "new", "", "the program after the change, a `FILE`")
	flags.StringVar(&match, "match", "", "only the cases whose name matches this `REGEXP`")
	flags.BoolVar(&o.whole, "whole", false, "also scan the whole tree of each head of a bundle")
	flags.StringVar(&o.results, "results", "", "keep the results of the old program in `DIR`")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.dirs = flags.Args(); o.old == "" || o.new == "" || len(o.dirs) == 0 {
		return o, errors.New("-old, -new and at least one directory are needed")
	}
	var err error
	if o.match, err = regexp.Compile(match); err != nil {
		return o, fmt.Errorf("-match: %w", err)
	}
	for _, file := range []*string{&o.old, &o.new} {
		if *file, err = filepath.Abs(*file); err != nil {
			return o, err
		}
		if _, err := os.Stat(*file); err != nil {
			return o, err
		}
	}
	return o, nil
}

// compareAll runs every case and returns how many differ.
func compareAll(ctx context.Context, o options, stdout io.Writer) (int, error) {
	temp, err := os.MkdirTemp("", "preadmit-compare-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	if o.results == "" {
		o.results = filepath.Join(temp, "results")
	}
	cases, err := findCases(ctx, o, filepath.Join(temp, "clones"))
	if err != nil {
		return 0, err
	}
	if len(cases) == 0 {
		return 0, fmt.Errorf("nothing to compare in %q", o.dirs)
	}
	differences := make([]string, len(cases))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range cases {
		group.Go(func() (err error) {
			differences[i], err = c.compare(ctx, o)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return list(stdout, cases, differences), nil
}

// list prints the cases that differ and returns how many there are.
func list(stdout io.Writer, cases []testCase, differences []string) int {
	n := 0
	for i, c := range cases {
		if differences[i] != "" {
			n++
			fmt.Fprintf(stdout, "%s: %s\n%s\n", c.name, c.commandLine(), differences[i])
		}
	}
	fmt.Fprintf(stdout, "%d of %d cases differ\n", n, len(cases))
	return n
}
