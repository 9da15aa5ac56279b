package child

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/permit"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// mounted has the artifacts of the trees of a change.
type mounted struct {
	of  *jailed.Artifacts
	all []*contents
}

// mount adds the artifacts that the parent fetched to the trees. Trees without a lock or permitted
// URLs stay as they are.
func (j *job) mount(base, head *scanner.Tree, allow []string) (*mounted, error) {
	if j.Artifacts == nil {
		return &mounted{}, nil
	}
	before := head.FS // without a base the head is used
	if base != nil {
		before = base.FS
	}
	rules, err := permit.Load(before, head.FS, allow)
	if err != nil || rules.Base == nil && rules.Head == nil && len(rules.Allow) == 0 {
		return &mounted{}, err
	}
	o := &mounted{of: j.Artifacts}
	if base != nil {
		base.FS = o.mount(base.FS, true, rules.OfBase())
	}
	head.FS = o.mount(head.FS, false, rules)
	return o, nil
}

// mount returns a tree with its artifacts.
func (o *mounted) mount(tree fs.FS, base bool, rules *permit.Rules) fs.FS {
	c := &contents{base: base, rules: rules, there: &lock.Lock{}, failed: map[artifact.Artifact]string{}, missing: map[artifact.Artifact]bool{}}
	for _, f := range o.of.Fetched {
		switch {
		case f.Base != base:
		case f.Why == "":
			c.there.Set(f.Artifact, f.Pin)
		default:
			c.failed[f.Artifact] = f.Why
		}
	}
	c.Contents = store.NewLocked(store.Open(o.of.Dir), c.there, c.hint)
	o.all = append(o.all, c)
	return overlay.New(tree, c)
}

// contents are the artifacts of a tree. It records the missing ones.
type contents struct {
	artifact.Contents
	base  bool
	rules *permit.Rules
	// there has the fetched artifacts, failed why others were not fetched.
	there  *lock.Lock
	failed map[artifact.Artifact]string

	mu      sync.Mutex
	missing map[artifact.Artifact]bool
}

// Tree implements artifact.Contents.
func (c *contents) Tree(a artifact.Artifact) (fs.FS, artifact.Pin, error) {
	tree, pin, err := c.Contents.Tree(a)
	c.note(a, err)
	return tree, pin, err
}

// Bytes implements artifact.Contents.
func (c *contents) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	data, pin, err := c.Contents.Bytes(a)
	c.note(a, err)
	return data, pin, err
}

// note records a missing artifact that was not requested from the parent before.
func (c *contents) note(a artifact.Artifact, err error) {
	missing := new(artifact.MissingError)
	if !errors.As(err, &missing) {
		return
	}
	if _, ok := c.there.Find(a); ok || c.failed[a] != "" || a.Check() != nil {
		return
	}
	if _, _, err := c.rules.Decide(a); err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing[a] = true
}

// hint returns why an artifact is missing, or "".
func (c *contents) hint(a artifact.Artifact) string {
	refused := new(permit.RefusedError)
	switch _, _, err := c.rules.Decide(a); {
	case c.failed[a] != "":
		return "it was not fetched: " + c.failed[a]
	case errors.As(err, &refused):
		return refused.Why
	}
	return ""
}

// lacks returns the missing artifacts, sorted, as many as one message may have.
func (o *mounted) lacks() []jailed.Lack {
	var all []jailed.Lack
	if o.of == nil || o.of.Last {
		return nil
	}
	for _, c := range o.all {
		for a := range c.missing {
			all = append(all, jailed.Lack{Base: c.base, Artifact: a})
		}
	}
	slices.SortFunc(all, func(a, b jailed.Lack) int {
		if a.Base != b.Base {
			return map[bool]int{true: -1, false: 1}[a.Base]
		}
		return a.Artifact.Compare(b.Artifact)
	})
	size := 0
	for i, l := range all {
		if size += len(l.Artifact.String()) + jsonRest; i == jailed.MaxLacks || size > maxLacksText {
			return all[:i]
		}
	}
	return all
}

// maxLacksText limits the artifacts' text in a message. It is far below the limit of a line even
// if all characters are escaped. jsonRest is the size of an artifact's other JSON.
const (
	maxLacksText = 128 << 10
	jsonRest     = 80
)

// notes returns diagnostics for fetched artifacts that are not in the base's lock with this digest.
func (o *mounted) notes() []report.Diagnostic {
	var all []string
	for _, c := range o.all {
		for _, a := range c.there.Artifacts() {
			pin, _ := c.there.Find(a)
			if known, ok := c.rules.Permitted().Find(a); !ok || known.Digest != pin.Digest {
				all = append(all, permit.Note(a, pin))
			}
		}
	}
	slices.Sort(all)
	var notes []report.Diagnostic
	for _, text := range slices.Compact(all) {
		notes = append(notes, report.Diagnostic{Severity: "note", Message: text})
	}
	return notes
}

// lacking is the error of a scan with missing artifacts.
type lacking struct{ artifacts []jailed.Lack }

func (l *lacking) Error() string { return fmt.Sprintf("%d artifacts are missing", len(l.artifacts)) }
