package scanner_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/treetest"
	"github.com/preadmit/preadmit/scanner"
)

// TestSubmodules: manifests that are applied with those of a plain root, but are not in
// the repository, do not pass in silence when the change moves them.
func TestSubmodules(t *testing.T) {
	manifest := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}
	at := func(commit string) *fstest.MapFile {
		return &fstest.MapFile{Mode: fs.ModeIrregular, Data: []byte(commit)}
	}
	tree := func(more fstest.MapFS) scanner.Tree {
		files := fstest.MapFS{
			"apps/a.yaml": manifest, "docs/theme": at("1"), "kustomized/vendor": at("1"),
			"kustomized/kustomization.yaml": {Data: []byte("resources: [a.yaml]")}, "kustomized/a.yaml": manifest,
		}
		for name, file := range more {
			files[name] = file
		}
		return scanner.Tree{FS: treetest.Name(files)}
	}
	without := tree(nil)
	one := tree(fstest.MapFS{"apps/deep/vendor": at("1"), "docs/theme": at("2"), "kustomized/vendor": at("2")})
	two := tree(fstest.MapFS{"apps/deep/vendor": at("2")})
	for name, c := range map[string]struct {
		base *scanner.Tree
		head scanner.Tree
		want []string
	}{
		"added":     {&without, one, []string{"apps/deep/vendor of apps: is a git submodule, untouched: false"}},
		"moved":     {&one, two, []string{"apps/deep/vendor of apps: is a git submodule, untouched: false"}},
		"removed":   {&one, without, []string{"apps/deep/vendor of apps: was a git submodule, untouched: false"}},
		"untouched": {&one, one, []string{"apps/deep/vendor of apps: is a git submodule, untouched: true"}},
		"no base":   {nil, one, []string{"apps/deep/vendor of apps: is a git submodule, untouched: false"}},
		"none":      {&without, without, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := scanner.Scan(context.Background(), scanner.Input{Base: c.base, Head: c.head})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range r.Indeterminate {
				why, _, _ := strings.Cut(i.Why, ":")
				got = append(got, fmt.Sprintf("%s of %s: %s, untouched: %t", i.Location.Path, i.Root, why, i.Untouched))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
