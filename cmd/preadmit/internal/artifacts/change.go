package artifacts

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/permit"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/scanner/config"
)

// Change has the two trees of a change, and the rules for what may be fetched for it.
type Change struct {
	// Base is nil when everything is new.
	Base, Head fs.FS
	// Trusted is set when the head is the work tree of the user who runs the program.
	Trusted bool
	// Allow are the URL patterns from the configuration of the base and --allow.
	Allow []string
	// Locked is set when artifacts that the base needs but does not lock are not fetched.
	Locked bool
	// NoLock is set to ignore all locks.
	NoLock bool
	Render render.Options
	// Deploy has the options for expanding units.
	Deploy deploy.Options
	// CRDs are the sources of CustomResourceDefinitions that the configuration names.
	CRDs []config.CRDSource
	// Given has charts from --artifacts, nil without any. They have precedence over locked ones.
	Given artifact.Contents
	// Store opens the store, and Client returns a client that fetches into it. Client is nil
	// when nothing is fetched.
	Store  func() (*store.Store, error)
	Client func(*store.Store) (*fetch.Client, error)

	kept   *store.Store
	client *fetch.Client
}

// Mount returns the trees with their artifacts added: those in the locks in force and, with a
// client, those that it fetches. The notes list fetched artifacts that are in no lock in force,
// with their digests, so that the report names what was judged. Without a lock and a client,
// Mount adds only the charts of Given.
func (c *Change) Mount(ctx context.Context) (base, head fs.FS, notes []string, err error) {
	rules, err := c.rules()
	if err != nil {
		return nil, nil, nil, err
	}
	if rules.Base == nil && rules.Head == nil && (c.Client == nil || c.Locked && len(rules.Allow) == 0) {
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
	if err == nil && c.client != nil {
		err = c.kept.Trim(DefaultSize<<20, slices.Concat(rules.Base.Digests(), rules.Head.Digests()))
	}
	notes = append(notes, more...)
	slices.Sort(notes)
	return base, head, slices.Compact(notes), err
}

// DefaultSize is the size, in MiB, to which the store is trimmed after fetching. Locked
// artifacts are kept in any case.
const DefaultSize = 4096

// rules returns the rules for the head.
func (c *Change) rules() (*permit.Rules, error) {
	before := c.Base
	if c.Locked && before == nil {
		before = c.Head // without a base, the head is its own base
	}
	rules, err := permit.Load(before, c.Head, c.Allow)
	if err != nil {
		return nil, err
	}
	if !c.Locked {
		rules.Trusted, rules.Named = c.Base == nil || c.Trusted, map[artifact.Artifact]bool{}
	}
	if c.NoLock {
		rules.Base, rules.Head = nil, nil
	}
	return rules, nil
}

// mount returns a tree with the artifacts that its rules permit. It records the artifacts
// that the tree needs in named, unless that is nil.
func (c *Change) mount(ctx context.Context, tree fs.FS, rules *permit.Rules, named map[artifact.Artifact]bool) (fs.FS, []string, error) {
	locked := rules.Permitted()
	var notes []string
	failed := map[artifact.Artifact]error{}
	if c.client != nil {
		found, err := c.gather(ctx, tree, rules)
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

// gather fetches the artifacts that a tree needs, as far as its rules permit. If only locked
// artifacts may be fetched and the store has all of them, it does not search the tree.
func (c *Change) gather(ctx context.Context, tree fs.FS, rules *permit.Rules) (*Found, error) {
	resolve := func(ctx context.Context, a artifact.Artifact) (artifact.Pin, error) {
		return c.client.Permitted(ctx, rules, a)
	}
	if locked := rules.Permitted(); c.Locked && len(rules.Allow) == 0 && c.hasAll(locked) {
		found := newFound()
		found.Lock = locked
		return found, nil
	}
	return Gather(ctx, &Tree{tree, c.Render, c.Deploy, c.CRDs}, c.kept, resolve)
}

// hasAll reports whether all contents of a lock are in the store.
func (c *Change) hasAll(l *lock.Lock) bool {
	for _, digest := range l.Digests() {
		if !c.kept.Has(digest) {
			return false
		}
	}
	return true
}

// withCharts returns a tree with the charts of Given added.
func (c *Change) withCharts(tree fs.FS) fs.FS {
	if c.Given == nil || tree == nil {
		return tree
	}
	return overlay.WithCharts(tree, c.Given)
}

// Reason returns why an artifact was not fetched, without the artifact's name.
func Reason(err error) string {
	failed := new(fetch.Error)
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
