package render

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isManifestOf is isManifest for a file of a directory, which tells what is wrong with it
// once. What depends on nothing but the directory is kept for the trees beside.
func (d *discoverer) isManifestOf(l *listing, name string) bool {
	if holds, seen := d.seen[name]; seen {
		return holds
	}
	if holds, known := d.knownToHold(l, name); known {
		l.hold(name, holds)
		return holds
	}
	told := len(d.out.Diagnostics)
	holds := d.isManifest(name)
	d.seen[name] = holds
	if to := d.tree.resolve(name); to.err == nil && len(to.links) == 0 && len(d.out.Diagnostics) == told {
		l.hold(name, holds)
	}
	return holds
}

func (l *listing) hold(name string, holds bool) {
	if l.holds == nil {
		l.holds = map[string]bool{}
	}
	l.holds[name] = holds
}

// knownToHold tells whether a file of a directory holds an object, if that was found
// out beside.
func (d *discoverer) knownToHold(l *listing, name string) (holds, known bool) {
	if l.twin == nil {
		return false, false
	}
	holds, known = l.twin.holds[name]
	return holds, known
}

// isManifest tells whether a file holds a Kubernetes object, or looks so much
// like it that its author must have meant one; in the latter case, and when it
// cannot be read, a diagnostic says what is wrong.
func (d *discoverer) isManifest(name string) bool {
	if d.tree.resolve(name).isDir {
		return false // a symbolic link to a directory
	}
	data, real, err := d.tree.load(name, newTrace())
	if errors.Is(err, fs.ErrNotExist) {
		d.diagnose(SeverityWarning, Position{Path: name}, "is a symbolic link that leads nowhere")
		return false
	}
	if err != nil {
		p := unreadable(name, err)
		d.problems[name] = p
		d.diagnose(SeverityError, p.Position, "%s", p.Message)
		return true
	}
	if !mayHoldObject(data) {
		return false
	}
	if isPointer(data) && path.Ext(name) == ".json" { // data, rather than a manifest
		d.pointers[name] = true
		d.diagnose(SeverityWarning, Position{Path: name}, "%s", elsewhere(data))
		return false
	}
	f := d.tree.decodeManifest(real, data)
	if p := fileProblem(f); p != nil {
		d.problems[name] = p
	}
	return d.holdsObject(name, f)
}

// refusal is why a plain root is refused, if it is.
func (d *discoverer) refusal(root Root) *Problem {
	for _, name := range root.Files {
		if p := d.problems[name]; p != nil {
			if p.Kind == ProblemRefused {
				return p
			}
			return nil // it fails before
		}
	}
	return nil
}

// holdsObject tells what is wrong with documents that were meant as objects.
func (d *discoverer) holdsObject(name string, f *manifestFile) bool {
	found := false
	for _, doc := range f.documents {
		switch {
		case doc.bad != nil && doc.object && doc.template:
			d.tellTemplate(name, doc.bad)
		case doc.bad != nil && doc.object:
			d.diagnose(SeverityError, doc.bad.Position, "%s", doc.bad.message)
			found = true
		case len(doc.objects) > 0:
			found = true
		}
	}
	switch {
	case f.bad != nil && templated([]byte(f.bad.message)): // the separator itself
		d.tellTemplate(name, f.bad)
	case f.bad != nil:
		d.diagnose(SeverityError, f.bad.Position, "%s", f.bad.message)
		found = true
	}
	return found
}

// tellTemplate tells of what is left out since it is no YAML yet.
func (d *discoverer) tellTemplate(name string, bad *syntax) {
	d.diagnose(SeverityWarning, bad.Position, "looks like a template, not a manifest: %s", bad.message)
	id, _ := d.tree.identity(d.real(name)) // it was read
	d.leftOut(Gap{Position: Position{Path: name}, Kind: GapTemplate, Root: RootID{Dir: path.Dir(name)}, Identity: id})
}

// templated tells a file of another tool's templates, which is no YAML yet.
func templated(text []byte) bool {
	return bytes.Contains(text, []byte("{{")) && bytes.Contains(text, []byte("}}"))
}

// pluginFiles lists the files that plugin configuration names.
func pluginFiles(data []byte) []string {
	var out []string
	for _, c := range splitChunks(normalize(data)) {
		decoder := yaml.NewDecoder(strings.NewReader(c.text))
		var node yaml.Node
		for decoder.Decode(&node) == nil {
			var value any
			if guardNode(&node, Limits{}.withDefaults()) == nil && node.Decode(&value) == nil {
				for _, p := range pluginPaths(stringKeys(value)) {
					if !text(p) {
						out = append(out, unique(p, sourcePath(p))...)
					}
				}
			}
			node = yaml.Node{}
		}
	}
	return out
}
