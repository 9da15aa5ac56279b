package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/scanner/admission"
)

// bundleSuffix is the file name extension of git bundles.
const bundleSuffix = ".bundle"

// tree is a tree of manifests with its name.
type tree struct {
	name string
	fs.FS
}

// openTrees opens a directory, or the branches of a git bundle.
func (c *conformance) openTrees(ctx context.Context, path string) ([]tree, error) {
	if !strings.HasSuffix(path, bundleSuffix) {
		fsys, err := gittree.Dir(path)
		return []tree{{path, fsys}}, err
	}
	clone := filepath.Join(c.dir, "clones", filepath.Base(path))
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--bare", path, clone).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("clone %s: %w: %s", path, err, out)
	}
	out, err := exec.CommandContext(ctx, "git", "-C", clone, "for-each-ref", "--format=%(refname)", "refs/heads").Output()
	if err != nil {
		return nil, fmt.Errorf("list the branches of %s: %w", path, err)
	}
	repository, err := gittree.Open(clone)
	if err != nil {
		return nil, err
	}
	var trees []tree
	for branch := range strings.FieldsSeq(string(out)) {
		commit, err := repository.Commit(branch)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree{filepath.Base(path) + " " + branch, commit.FS()})
	}
	return trees, nil
}

// versions has the different objects with one key, in the order in which they were found.
type versions struct {
	key     admission.Key
	objects []*admission.Object
}

// collection has the objects of several trees, each object once.
type collection struct {
	cluster *admission.Cluster
	seen    map[string]bool
	byKey   map[admission.Key]*versions
	all     []*versions
	// failed counts roots that could not be rendered.
	roots, failed int
}

func newCollection() *collection {
	return &collection{
		cluster: admission.NewCluster(admission.ClusterOptions{}, admission.NewIndex(nil)),
		seen:    map[string]bool{}, byKey: map[admission.Key]*versions{},
	}
}

// add renders all roots of a tree and adds their objects.
func (c *collection) add(ctx context.Context, t tree) error {
	renderer := sources.NewRenderer(t, render.Options{})
	found, err := renderer.Discover(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	for _, root := range found.Roots {
		c.roots++
		result := renderer.Render(ctx, root)
		if result.Problem != nil {
			c.failed++
		}
		for _, o := range result.Objects {
			if err := c.object(admission.ParseObject(o.JSON)); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return nil
}

func (c *collection) object(o *admission.Object) error {
	data, err := json.Marshal(o.Content())
	if err != nil {
		return fmt.Errorf("encode %s: %w", o.Name(), err)
	}
	if c.seen[string(data)] {
		return nil
	}
	c.seen[string(data)] = true
	key := c.cluster.Key(o)
	if c.byKey[key] == nil {
		c.byKey[key] = &versions{key: key}
		c.all = append(c.all, c.byKey[key])
	}
	c.byKey[key].objects = append(c.byKey[key].objects, o)
	return nil
}
