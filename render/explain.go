package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
)

// explain turns kustomize's failure into a problem at the best place that can be
// derived from it.
func (r *kustomizeSource) explain(root Root, c *closure, failure error) *Problem {
	text := failure.Error()
	p := &Problem{Kind: ProblemFailed, Position: Position{Path: root.Dir}, Message: clean(text)}
	for _, find := range []func(string, *closure) (Position, string, bool){
		r.kustomizationCount, brokenKustomization, r.brokenFile, r.missingFile, r.unmatchedPatch, mentionedEntry, deepestKustomization,
	} {
		if pos, message, ok := find(text, c); ok {
			p.Position = pos
			if message != "" {
				p.Message = message
			}
			return p
		}
	}
	if len(c.files) > 0 {
		p.Position = Position{Path: c.files[0].path, Line: 1}
	}
	return p
}

var (
	foundMultiple = regexp.MustCompile(`Found multiple kustomization files under: (\S+)`)
	missingOne    = regexp.MustCompile(`unable to find one of .* in directory '([^']+)'`)
	recursedInto  = regexp.MustCompile(`(?:recursed accumulation of path|couldn't make target for path|under) '?(` + regexp.QuoteMeta(mount) + `[^'\s:]*)`)
)

// kustomizationCount explains a directory with no kustomization file, or several.
func (r *kustomizeSource) kustomizationCount(failure string, c *closure) (Position, string, bool) {
	if m := foundMultiple.FindStringSubmatch(failure); m != nil {
		dir := unmount(m[1])
		return r.secondKustomization(dir), fmt.Sprintf("there is more than one kustomization file in %s", dir), true
	}
	m := missingOne.FindStringSubmatch(failure)
	if m == nil {
		return Position{}, "", false
	}
	dir := unmount(m[1])
	message := fmt.Sprintf("there is no kustomization.yaml in the directory %s", dir)
	for _, e := range c.entries {
		if to := r.tree.resolve(e.target); e.target != "" && to.err == nil && to.isDir && to.real == dir {
			return e.position(), message, true
		}
	}
	return Position{Path: dir}, message, true
}

// secondKustomization is the one file too many.
func (r *kustomizeSource) secondKustomization(dir string) Position {
	pos := Position{Path: dir}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if to := r.tree.resolve(path.Join(dir, name)); to.err == nil && !to.isDir {
			pos.Path = to.real
		}
	}
	return pos
}

// brokenKustomization explains a kustomization file kustomize does not accept.
func brokenKustomization(failure string, c *closure) (Position, string, bool) {
	for _, k := range c.files {
		if k.err == nil || !strings.Contains(failure, k.err.Error()) {
			continue
		}
		pos := Position{Path: k.path, Line: 1}
		message := clean(k.err.Error())
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			pos.Line = atoi(m[1])
			message = yamlPrefix.ReplaceAllString(message, "")
		}
		if m := unknownField.FindStringSubmatch(message); m != nil {
			pos = k.fieldPosition(m[1])
		}
		return pos, message, true
	}
	return Position{}, "", false
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// fieldPosition finds the first key of a name anywhere in the file.
func (k *kustomization) fieldPosition(name string) Position {
	if key := findKey(k.document(), name); key != nil {
		return Position{Path: k.path, Line: key.Line, Column: key.Column}
	}
	return Position{Path: k.path, Line: 1}
}

func findKey(node *yaml.Node, name string) *yaml.Node {
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i]
			}
		}
	}
	for _, child := range node.Content {
		if key := findKey(child, name); key != nil {
			return key
		}
	}
	return nil
}

// brokenFile explains a file that is not YAML.
func (r *kustomizeSource) brokenFile(failure string, c *closure) (Position, string, bool) {
	if !strings.Contains(failure, "yaml: ") && !strings.Contains(failure, "document separator") {
		return Position{}, "", false
	}
	for _, e := range c.entries {
		if e.target == "" || !strings.Contains(failure, e.value) {
			continue
		}
		to := r.tree.resolve(e.target)
		if to.err != nil || to.isDir {
			continue
		}
		data, err := r.tree.read(to.real)
		if err != nil {
			continue
		}
		if line, message := syntaxError(data); message != "" {
			return Position{Path: to.real, Line: line}, message, true
		}
	}
	return Position{}, "", false
}

// syntaxError finds the first document of a file that does not parse.
func syntaxError(data []byte) (line int, message string) {
	for _, c := range splitChunks(normalize(data)) {
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(c.text), &node); err != nil {
			return c.line + errorLine(err), stripLine(err)
		}
	}
	return 0, ""
}

// errorLine is the line a YAML error names, 1 when it names none.
func errorLine(err error) int {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return max(atoi(m[1]), 1)
	}
	return 1
}

var yamlLine = regexp.MustCompile(`yaml: line (\d+)`)

var yamlPrefix = regexp.MustCompile(`yaml: (line \d+: )?`)

func stripLine(err error) string {
	return "invalid YAML: " + yamlPrefix.ReplaceAllString(err.Error(), "")
}

// missingFile explains an entry that leads nowhere.
func (r *kustomizeSource) missingFile(failure string, c *closure) (Position, string, bool) {
	for _, e := range c.entries {
		if e.value == "" || !strings.Contains(failure, e.value) {
			continue
		}
		if path.IsAbs(e.value) {
			return e.position(), fmt.Sprintf("%s is an absolute path; paths are relative to the kustomization", e.value), true
		}
		if e.target == "" {
			continue
		}
		if to := r.tree.resolve(e.target); to.err != nil {
			return e.position(), fmt.Sprintf("%s %s", quote(e.value), reason(e.target, to.err)), true
		}
	}
	return Position{}, "", false
}

var missingTarget = regexp.MustCompile(`(?:no resource matches strategic merge patch "?|failed to find unique target for patch |no matches for Id )([^"/\s;]+)/([^"\s;.\[]+)`)

// unmatchedPatch explains a patch whose object is not among the resources.
func (r *kustomizeSource) unmatchedPatch(failure string, c *closure) (Position, string, bool) {
	m := missingTarget.FindStringSubmatch(failure)
	if m == nil {
		return Position{}, "", false
	}
	kind, _, _ := strings.Cut(m[1], ".")
	for _, e := range c.entries {
		if (e.kind == refInline || e.kind == refPatch) && mentions(r.patchText(e), kind, m[2]) {
			return e.position(), "", true
		}
	}
	return Position{}, "", false
}

// patchText is the text of a patch, inline or in a file.
func (r *kustomizeSource) patchText(e entry) string {
	if e.kind == refInline {
		return e.value
	}
	data, _, err := r.tree.load(e.target, newTrace())
	if err != nil {
		return ""
	}
	return string(data)
}

func mentions(text, kind, name string) bool {
	return strings.Contains(text, "kind: "+kind) && strings.Contains(text, "name: "+name)
}

// mentionedEntry takes the last entry whose text the failure holds: the deepest.
func mentionedEntry(failure string, c *closure) (Position, string, bool) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		e := c.entries[i]
		if len(e.value) > 2 && e.kind != refInline && strings.Contains(failure, "'"+e.value+"'") ||
			strings.Contains(failure, `"`+e.value+`"`) {
			return e.position(), "", true
		}
	}
	return Position{}, "", false
}

// deepestKustomization takes the last kustomization the failure names.
func deepestKustomization(failure string, c *closure) (Position, string, bool) {
	matches := recursedInto.FindAllStringSubmatch(failure, -1)
	for i := len(matches) - 1; i >= 0; i-- {
		dir := unmount(matches[i][1])
		for _, k := range c.files {
			if k.dir == dir {
				return Position{Path: k.path, Line: 1}, "", true
			}
		}
	}
	return Position{}, "", false
}

func unmount(name string) string {
	if rel, err := inTree(strings.TrimSpace(name)); err == nil {
		return rel
	}
	return name
}

// clean makes kustomize's words fit for a report: paths of the tree, one line.
func clean(text string) string {
	text = address.ReplaceAllString(text, "&{")
	text = strings.ReplaceAll(text, mount+"/", "")
	text = strings.ReplaceAll(text, mount, ".")
	return strings.Join(strings.Fields(text), " ")
}

// address is where kustomize keeps what it prints in some errors, which is another
// place in each run.
var address = regexp.MustCompile(`&\{0x[0-9a-f]+ ?`)

// reason words why a path leads nowhere.
func reason(target string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "does not exist: there is no " + target
	}
	return "cannot be used: " + clean(err.Error())
}
