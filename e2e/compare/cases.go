package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// testCase is one command line to run with both programs.
type testCase struct {
	name string
	dir  string // the working directory
	args []string
	// outputs are the values of -o, like "json=report.json".
	outputs []string
}

// scanOutputs has one file for each format of scan.
var scanOutputs = []string{
	"json=report.json", "sarif=report.sarif", "markdown=report.md", "html=report.html", "junit=report.xml", "github=report.github",
}

// finder collects cases.
type finder struct {
	options
	clones string // the directory for clones of bundles
	cases  []testCase
}

// findCases returns the cases in the directories of the options, in a fixed order.
func findCases(ctx context.Context, o options, clones string) ([]testCase, error) {
	f := &finder{options: o, clones: clones}
	for _, dir := range o.dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return f.visit(ctx, path, entry)
		})
		if err != nil {
			return nil, fmt.Errorf("look for cases: %w", err)
		}
	}
	return f.cases, nil
}

// visit adds the cases of one directory or bundle.
func (f *finder) visit(ctx context.Context, path string, entry fs.DirEntry) error {
	switch {
	case entry.IsDir() && isDir(filepath.Join(path, "head")):
		f.addScenario(path)
		return fs.SkipDir
	case entry.IsDir() && isFile(filepath.Join(path, "requests.yaml")):
		f.add(testCase{name: "suite " + path, dir: path, args: []string{"test", "--format", "json", "."}})
	case strings.HasSuffix(path, ".bundle"):
		return f.addBundle(ctx, path)
	}
	return nil
}

func (f *finder) add(c testCase) {
	if f.match.MatchString(c.name) {
		f.cases = append(f.cases, c)
	}
}

// addScenario adds a scan, a lint and renders of a directory with base and head.
func (f *finder) addScenario(dir string) {
	args := []string{"scan", "head", "--existing", "--diff"}
	if isDir(filepath.Join(dir, "base")) {
		args = append(args, "--base-path", "base")
	}
	f.add(testCase{name: "scan " + dir, dir: dir, args: args, outputs: scanOutputs})
	f.add(testCase{name: "lint " + dir, dir: dir, args: []string{"lint", "head"}, outputs: []string{"json=lint.json", "sarif=lint.sarif"}})
	_ = filepath.WalkDir(filepath.Join(dir, "head"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(strings.ToLower(entry.Name()), "kustomization") {
			root := filepath.Dir(path)
			f.add(testCase{name: "render " + root, dir: dir, args: []string{"render", "--origin", "--tree", "head", root}})
		}
		return nil
	})
}

// addBundle clones a bundle and adds a scan for each pair of branches.
func (f *finder) addBundle(ctx context.Context, bundle string) error {
	clone := filepath.Join(f.clones, fmt.Sprint(len(f.cases), "-", strings.TrimSuffix(filepath.Base(bundle), ".bundle")))
	if err := git(ctx, "clone", "-q", "--no-checkout", bundle, clone); err != nil {
		return err
	}
	refs, err := exec.CommandContext(ctx, "git", "-C", clone, "for-each-ref", "--format=%(refname:short)", "refs/remotes").Output()
	if err != nil {
		return fmt.Errorf("list branches of %s: %w", bundle, err)
	}
	for _, head := range strings.Fields(string(refs)) {
		prefix, found := strings.CutSuffix(head, "head")
		if !found {
			continue
		}
		name := bundle + " " + head
		f.add(testCase{name: "scan " + name, dir: clone, args: []string{"scan", "--base", prefix + "base", "--head", head, "--existing", "--diff"}, outputs: scanOutputs})
		if f.whole {
			f.add(testCase{name: "whole " + name, dir: clone, args: []string{"scan", "--head", head}, outputs: []string{"json=report.json"}})
		}
	}
	return nil
}

func git(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
