package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// explain converts kustomize's failure to a problem at the best place that the failure allows.
func (r *Source) explain(root render.Root, c *build.Closure, failure error) *render.Problem {
	text := failure.Error()
	p := &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: sentence(text)}
	defer func() {
		if original := clean(text); original != p.Message {
			p.Original = original
		}
	}()
	explained := false
	for _, find := range []func(string, *build.Closure) (tree.Position, string, bool){
		r.kustomizationCount, brokenKustomization, r.mappingAsKey, r.unknownSetting, r.brokenFile, r.missingFile, r.knownFailure, mentionedEntry, deepestKustomization,
	} {
		pos, message, ok := find(text, c)
		if ok && message != "" && !explained {
			p.Message, explained = message, true
		}
		if ok && pos.Path != "" {
			p.Position = pos
			return p
		}
	}
	if len(c.Files) > 0 {
		p.Position = tree.Position{Path: c.Files[0].Path, Line: 1}
	}
	return p
}

var (
	foundMultiple = regexp.MustCompile(`Found multiple kustomization files under: (\S+)`)
	missingOne    = regexp.MustCompile(`unable to find one of .* in directory '([^']+)'`)
	recursedInto  = regexp.MustCompile(`(?:recursed accumulation of path|couldn't make target for path|under) '?(` + regexp.QuoteMeta(build.Mount) + `[^'\s:]*)`)
)

// kustomizationCount explains a directory with no kustomization file, or several.
func (r *Source) kustomizationCount(failure string, c *build.Closure) (tree.Position, string, bool) {
	if m := foundMultiple.FindStringSubmatch(failure); m != nil {
		dir := unmount(m[1])
		return r.secondKustomization(dir), fmt.Sprintf("there is more than one kustomization file in %s", dir), true
	}
	m := missingOne.FindStringSubmatch(failure)
	if m == nil {
		return tree.Position{}, "", false
	}
	dir := unmount(m[1])
	message := fmt.Sprintf("there is no kustomization.yaml in the directory %s", dir)
	for _, e := range c.Entries {
		if to := r.tree.Resolve(e.Target); e.Target != "" && to.Err == nil && to.IsDir && to.Real == dir {
			return e.Position(), message, true
		}
	}
	return tree.Position{Path: dir}, message, true
}

// secondKustomization returns the position of the redundant kustomization file.
func (r *Source) secondKustomization(dir string) tree.Position {
	pos := tree.Position{Path: dir}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if to := r.tree.Resolve(path.Join(dir, name)); to.Err == nil && !to.IsDir {
			pos.Path = to.Real
		}
	}
	return pos
}

// brokenKustomization explains a kustomization file that kustomize rejects.
func brokenKustomization(failure string, c *build.Closure) (tree.Position, string, bool) {
	for _, k := range c.Files {
		if k.Err == nil || !strings.Contains(failure, k.Err.Error()) {
			continue
		}
		pos := tree.Position{Path: k.Path, Line: 1}
		message := sentence(k.Err.Error())
		if pos, message, ok := wrongField(k, message); ok {
			return pos, message, true
		}
		if tree.YamlLine.MatchString(message) {
			pos.Line = tree.ErrorLineIn(k.Data, k.Err)
			message = tree.YamlPrefix.ReplaceAllString(message, "")
		}
		if m := unknownField.FindStringSubmatch(message); m != nil {
			pos, message = k.FieldPosition(m[1]), fmt.Sprintf("a kustomization has no field %q there", m[1])
		}
		message = strings.Replace(message, "invalid Kustomization: yaml: ", "invalid YAML: ", 1)
		message = strings.Replace(message, "invalid Kustomization: ", "invalid YAML: ", 1)
		return pos, message, true
	}
	return tree.Position{}, "", false
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// brokenFile explains a file that is not YAML.
func (r *Source) brokenFile(failure string, c *build.Closure) (tree.Position, string, bool) {
	if !strings.Contains(failure, "yaml: ") && !strings.Contains(failure, "document separator") {
		return tree.Position{}, "", false
	}
	for _, e := range c.Entries {
		if !strings.Contains(failure, e.Value) {
			continue
		}
		real, data, ok := r.readEntry(e)
		if !ok {
			continue
		}
		if line, message := syntaxError(data); message != "" {
			return tree.Position{Path: real, Line: line}, message, true
		}
	}
	return tree.Position{}, "", false
}

// readEntry reads the file of an entry; ok is false if it has none or the file cannot be read.
func (r *Source) readEntry(e build.Entry) (real string, data []byte, ok bool) {
	if e.Target == "" {
		return "", nil, false
	}
	to := r.tree.Resolve(e.Target)
	if to.Err != nil || to.IsDir {
		return "", nil, false
	}
	data, err := r.tree.Read(to.Real)
	return to.Real, data, err == nil
}

// syntaxError returns the error of the first document that does not parse.
func syntaxError(data []byte) (line int, message string) {
	for _, c := range tree.SplitChunks(tree.Normalize(data)) {
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(c.Text), &node); err != nil {
			return c.Line + tree.ErrorLineIn([]byte(c.Text), err), stripLine(err)
		}
	}
	return 0, ""
}

func stripLine(err error) string {
	return "invalid YAML: " + tree.YamlPrefix.ReplaceAllString(err.Error(), "")
}

// missingFile explains an entry that leads nowhere.
func (r *Source) missingFile(failure string, c *build.Closure) (tree.Position, string, bool) {
	for _, e := range c.Entries {
		if e.Value == "" || !strings.Contains(failure, e.Value) {
			continue
		}
		if path.IsAbs(e.Value) {
			return e.Position(), fmt.Sprintf("%s is an absolute path; paths are relative to the kustomization", e.Value), true
		}
		if e.Target == "" {
			continue
		}
		if to := r.tree.Resolve(e.Target); to.Err != nil {
			return e.Position(), fmt.Sprintf("%s %s", build.Quote(e.Value), reason(e.Target, to.Err)), true
		}
	}
	return tree.Position{}, "", false
}

// knownFailure explains other common mistakes.
func (r *Source) knownFailure(text string, c *build.Closure) (tree.Position, string, bool) {
	return (&failure{source: r, closure: c, text: text, sentence: sentence(text)}).knownFailure()
}

// patchText returns the text of a patch, inline or in a file.
func (r *Source) patchText(e build.Entry) string {
	if e.Kind == build.RefInline {
		return e.Value
	}
	data, _, err := r.tree.Load(e.Target, tree.NewTrace())
	if err != nil {
		return ""
	}
	return string(data)
}

func mentions(text, kind, name string) bool {
	return strings.Contains(text, "kind: "+kind) && strings.Contains(text, "name: "+name)
}

// mentionedEntry returns the last entry whose text is in the failure, in quotes: the deepest one. Single quotes
// also surround what a shell or a person wrote, so that a short text and that of a patch must have double ones.
func mentionedEntry(failure string, c *build.Closure) (tree.Position, string, bool) {
	for i := len(c.Entries) - 1; i >= 0; i-- {
		e := c.Entries[i]
		single := len(e.Value) > 2 && e.Kind != build.RefInline && strings.Contains(failure, "'"+e.Value+"'")
		if double := e.Value != "" && strings.Contains(failure, `"`+e.Value+`"`); single || double {
			return e.Position(), "", true
		}
	}
	return tree.Position{}, "", false
}

// deepestKustomization returns the last kustomization that the failure names.
func deepestKustomization(failure string, c *build.Closure) (tree.Position, string, bool) {
	matches := recursedInto.FindAllStringSubmatch(failure, -1)
	for i := len(matches) - 1; i >= 0; i-- {
		dir := unmount(matches[i][1])
		for _, k := range c.Files {
			if k.Dir == dir {
				return tree.Position{Path: k.Path, Line: 1}, "", true
			}
		}
	}
	return tree.Position{}, "", false
}

func unmount(name string) string {
	if rel, err := build.InTree(strings.TrimSpace(name)); err == nil {
		return rel
	}
	return name
}

// clean converts kustomize's message for a report: with paths of the tree, on one line.
func clean(text string) string {
	text = address.ReplaceAllString(text, "&{")
	text = strings.ReplaceAll(text, build.Mount+"/", "")
	text = strings.ReplaceAll(text, build.Mount, ".")
	return strings.Join(strings.Fields(text), " ")
}

// sentence returns the cause in kustomize's message, without the directories that led to it.
func sentence(text string) string {
	text = clean(text)
	if templateKey.MatchString(text) {
		return "invalid YAML: a mapping is the key of another, as of {{ }} that is not quoted"
	}
	for {
		inner := accumulating.ReplaceAllString(text, "")
		if inner == text || inner == "" {
			break
		}
		text = inner
	}
	if failed := mustBuild.FindStringIndex(text); failed != nil && failed[0] > 0 {
		text = text[:failed[0]]
	}
	if text = strings.Trim(text, " "); strings.Count(text, "'")%2 == 1 { // a quotation that was cut
		text = strings.TrimSuffix(strings.TrimPrefix(text, "'"), "'")
	}
	return text
}

var (
	accumulating = regexp.MustCompile(`^(accumulation err='|accumulat(ing|e) (resources|components)( from '[^']*')?: |accumulate(Resources|Directory|Components): ?|recursed (accumulation of|merging from) path '[^']*': |couldn't make target for path '[^']*': |read [^:']*: is a directory'?: )`)
	// mustBuild matches the text that follows when kustomize tried a file as a directory too.
	mustBuild   = regexp.MustCompile(`': (must build at directory|unable to find one of|evalsymlink failure|stat |new root )`)
	templateKey = regexp.MustCompile(`invalid map key: map\[`)
)

// address matches a memory address, which kustomize prints in some errors and which differs in each run.
var address = regexp.MustCompile(`&\{0x[0-9a-f]+ ?`)

// reason returns the text of a report for a path that cannot be used.
func reason(target string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "does not exist: there is no " + target
	}
	return "cannot be used: " + clean(err.Error())
}
