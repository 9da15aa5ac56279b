package render

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

// isManifestOf is like isManifest for a file of a directory, but reports problems only once. A result that depends only
// on the directory is stored in it for other trees.
func (d *discoverer) isManifestOf(l *directory, name string) bool {
	if holds, seen := d.seen[name]; seen {
		return holds
	}
	if holds, known := d.knownToHold(l, name); known {
		l.hold(name, holds)
		return holds
	}
	before := len(d.out.Diagnostics)
	holds := d.isManifest(name)
	d.seen[name] = holds
	if to := d.tree.Resolve(name); to.Err == nil && len(to.Links) == 0 && len(d.out.Diagnostics) == before {
		l.hold(name, holds)
	}
	return holds
}

func (l *directory) hold(name string, holds bool) {
	if l.holds == nil {
		l.holds = map[string]bool{}
	}
	l.holds[name] = holds
}

// knownToHold returns whether a file of a directory holds an object, if the other tree knows it.
func (d *discoverer) knownToHold(l *directory, name string) (holds, known bool) {
	if l.same == nil {
		return false, false
	}
	holds, known = l.same.holds[name]
	return holds, known
}

// isManifest reports whether a file holds a Kubernetes object, or something so similar that its author must have
// intended one. In the latter case, and if the file cannot be read, it adds a diagnostic.
func (d *discoverer) isManifest(name string) bool {
	if d.tree.Resolve(name).IsDir {
		return false // a symbolic link to a directory
	}
	data, real, err := d.tree.Load(name, tree.NewTrace())
	if errors.Is(err, fs.ErrNotExist) {
		d.diagnose(SeverityWarning, tree.Position{Path: name}, "is a symbolic link that leads nowhere")
		return false
	}
	if err != nil {
		p := Unreadable(name, err)
		d.problems[name] = p
		d.diagnose(SeverityError, p.Position, "%s", p.Message)
		return true
	}
	if !tree.MayHoldObject(data) {
		return false
	}
	if tree.IsPointer(data) && path.Ext(name) == ".json" { // probably data, not a manifest
		d.pointers[name] = true
		d.diagnose(SeverityWarning, tree.Position{Path: name}, "%s", tree.Elsewhere(data))
		return false
	}
	f := d.tree.DecodeManifest(real, data)
	if p := ManifestProblem(f); p != nil {
		d.problems[name] = p
	}
	return d.holdsObject(name, f)
}

// refusal returns the problem of the first file of a plain root that has one, if it is a refusal.
func (d *discoverer) refusal(root Root) *Problem {
	for _, name := range root.Files {
		if p := d.problems[name]; p != nil {
			if p.Kind == ProblemRefused {
				return p
			}
			return nil // the root fails at this file
		}
	}
	return nil
}

// holdsObject reports whether a file holds an object, and adds diagnostics for documents that were intended as objects.
func (d *discoverer) holdsObject(name string, f *tree.ManifestFile) bool {
	found := false
	for _, doc := range f.Documents {
		switch {
		case doc.Bad != nil && doc.Object && doc.Template:
			d.addTemplate(name, doc.Bad)
		case doc.Bad != nil && doc.Object:
			d.diagnose(SeverityError, doc.Bad.Position, "%s", doc.Bad.Message)
			found = true
		case slices.ContainsFunc(doc.Objects, func(o tree.Item) bool { return !o.IsForeign() }):
			found = true
		}
	}
	switch {
	case f.Bad != nil && separatesTemplate(f.Bad):
		d.addTemplate(name, f.Bad)
	case f.Bad != nil:
		d.diagnose(SeverityError, f.Bad.Position, "%s", f.Bad.Message)
		found = true
	}
	return found
}

// separatesTemplate reports whether the error of a document separator is due to a template in it.
func separatesTemplate(bad *tree.SyntaxError) bool { return strings.Contains(bad.Message, "{{") }

// addTemplate adds a diagnostic and a gap for a template.
func (d *discoverer) addTemplate(name string, bad *tree.SyntaxError) {
	d.diagnose(SeverityWarning, bad.Position, "looks like a template, not a manifest: %s", bad.Message)
	id, _ := d.tree.Identity(d.real(name)) // it was already read
	d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapTemplate, Root: RootID{Dir: path.Dir(name)}, Identity: id})
}

// FileHolds is the content of a file that a user names.
type FileHolds int

const (
	// HoldsNothing is a file without a Kubernetes object.
	HoldsNothing FileHolds = iota
	// HoldsObjects is a file with objects, or one that its author must have intended as such.
	HoldsObjects
	// HoldsTemplate is a template of a manifest.
	HoldsTemplate
)

// File returns a file of the tree as a root of its own, whose directory is the file, and its content. Like for kubectl,
// the extension of a named file does not matter.
func (r *Renderer) File(name string) (Root, FileHolds) {
	root := Root{RootID: RootID{Kind: KindPlain, Dir: name}, Files: []string{name}}
	data, real, err := r.tree.Load(name, tree.NewTrace())
	if err != nil {
		return root, HoldsObjects // rendering reports the error
	}
	f := r.tree.DecodeManifest(real, data)
	holds := HoldsNothing
	for _, doc := range f.Documents {
		switch {
		case doc.Bad != nil && doc.Template && isManifestOfAnyCase(name):
			return root, HoldsTemplate
		case len(doc.Objects) > 0, doc.Bad != nil && isManifestOfAnyCase(name):
			holds = HoldsObjects
		}
	}
	switch {
	case f.Bad == nil || !isManifestOfAnyCase(name):
		return root, holds
	case separatesTemplate(f.Bad):
		return root, HoldsTemplate
	}
	return root, HoldsObjects
}

func isManifestOfAnyCase(name string) bool {
	return tree.IsManifestName(name) || tree.IsOtherCase(name)
}
