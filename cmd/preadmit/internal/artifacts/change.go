package artifacts

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/permit"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/deploy"
)

// Change is the two trees of a change, and what may be fetched for it.
type Change struct {
	// Base is nil when everything is new.
	Base, Head fs.FS
	// Trusted is set when the head is the work of who runs the program.
	Trusted bool
	// Allow are patterns of URLs, of the configuration of the base.
	Allow  []string
	Render render.Options
	// Deploy says what is known of deployers.
	Deploy deploy.Options
	// Given has charts that lie beside the repository; nil without any. They go before those of
	// locks.
	Given artifact.Contents
	// Store opens the store, Client what fetches into it. Client is nil when nothing is fetched.
	Store  func() (*store.Store, error)
	Client func(*store.Store) (*fetch.Client, error)

	kept   *store.Store
	client *fetch.Client
}

// Mount returns the trees with the artifacts that they have: those that the locks in force
// name and, with a client, those that are fetched. What was fetched and is in no lock that
// counts is in the notes, with its digest: a report names what it judged. Trees without a lock
// stay as they are without a client.
func (c *Change) Mount(ctx context.Context) (base, head fs.FS, notes []string, err error) {
	rules, err := c.rules()
	if err != nil {
		return nil, nil, nil, err
	}
	if rules.Base == nil && rules.Head == nil && c.Client == nil {
		return c.withCharts(c.Base), c.withCharts(c.Head), nil, nil
	}
	if c.kept, err = c.Store(); err != nil {
		return nil, nil, nil, err
	}
	if c.Client != nil {
		if c.client, err = c.Client(c.kept); err != nil {
			return nil, nil, nil, err
		}
	}
	base = c.Base
	if c.Base != nil {
		if base, notes, err = c.mount(ctx, c.Base, rules.OfBase(), rules.Named); err != nil {
			return nil, nil, nil, err
		}
	}
	head, more, err := c.mount(ctx, c.Head, rules, nil)
	notes = append(notes, more...)
	slices.Sort(notes)
	return base, head, slices.Compact(notes), err
}

// rules are those of the head.
func (c *Change) rules() (*permit.Rules, error) {
	rules, err := permit.Load(c.Base, c.Head, c.Allow)
	if err == nil {
		rules.Trusted, rules.Named = c.Base == nil || c.Trusted, map[artifact.Artifact]bool{}
	}
	return rules, err
}

// mount returns a tree with its artifacts, by the rules for it, and notes what it asks for.
func (c *Change) mount(ctx context.Context, tree fs.FS, rules *permit.Rules, named map[artifact.Artifact]bool) (fs.FS, []string, error) {
	locked := rules.Permitted()
	var notes []string
	failed := map[artifact.Artifact]error{}
	if c.client != nil {
		found, err := Gather(ctx, &Tree{tree, c.Render, c.Deploy}, c.kept, func(ctx context.Context, a artifact.Artifact) (artifact.Pin, error) {
			return c.client.Permitted(ctx, rules, a)
		})
		if err != nil {
			return nil, nil, err
		}
		locked, failed = found.Lock, found.Failed
		for a := range found.Needed {
			if named != nil {
				named[a] = true
			}
		}
		for _, a := range locked.Artifacts() {
			pin, _ := locked.Find(a)
			if known, ok := rules.Permitted().Find(a); !ok || known.Digest != pin.Digest {
				notes = append(notes, permit.Note(a, pin))
			}
		}
	}
	hint := func(a artifact.Artifact) string {
		refused := new(permit.RefusedError)
		if _, _, err := rules.Decide(a); errors.As(err, &refused) {
			return refused.Why
		}
		if err := failed[a]; err != nil {
			return "it was not fetched: " + Reason(err)
		}
		return "preadmit fetch gets it"
	}
	var contents artifact.Contents = store.NewLocked(c.kept, locked, hint)
	if c.Given != nil {
		contents = store.First{c.Given, contents}
	}
	return overlay.New(tree, contents), notes, nil
}

// withCharts is a tree with the charts that are given.
func (c *Change) withCharts(tree fs.FS) fs.FS {
	if c.Given == nil || tree == nil {
		return tree
	}
	return overlay.WithCharts(tree, c.Given)
}

// Reason is why an artifact was not fetched, without its name.
func Reason(err error) string {
	failed := new(fetch.Error)
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
