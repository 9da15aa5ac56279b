package release

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/tree"
)

// Document is a YAML document in the output of a template.
type Document struct {
	File *engine.File
	// Offset is where Text begins in the output.
	Offset int
	Text   string
	// content is the decoded document, set on first use.
	content map[string]any
}

// separators returns where Helm cuts the output of a template, more often than YAML would: at (?m)^---[ \t]*.
func separators(text string) (all [][2]int) {
	for at := 0; ; {
		if strings.HasPrefix(text[at:], "---") {
			end := len(text) - len(strings.TrimLeft(text[at+3:], " \t"))
			all = append(all, [2]int{at, end})
			at = end
		}
		next := strings.Index(text[at:], "\n---")
		if next < 0 {
			return all
		}
		at += next + 1
	}
}

// documents cuts the outputs of the templates into documents, ordered by template name.
func documents(files []*engine.File) []*Document {
	var all []*Document
	sorted := slices.SortedFunc(slices.Values(files), func(a, b *engine.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range sorted {
		if isNotes(f.Name) || strings.HasPrefix(path.Base(f.Name), "_") {
			continue
		}
		all = append(all, cut(f)...)
	}
	return all
}

func cut(f *engine.File) []*Document {
	var all []*Document
	start := len(f.Text) - len(strings.TrimLeftFunc(f.Text, unicode.IsSpace))
	add := func(from, to int) {
		text := strings.TrimLeftFunc(f.Text[from:to], unicode.IsSpace)
		if text != "" {
			all = append(all, &Document{File: f, Offset: to - len(text), Text: text})
		}
	}
	at := start
	for _, found := range separators(f.Text[start:]) {
		add(at, start+found[0])
		at = start + found[1]
	}
	add(at, len(f.Text))
	return all
}

// isHook reports whether a document is a hook.
func (d *Document) isHook() bool {
	var head util.SimpleHead
	if sigsyaml.Unmarshal([]byte(d.Text), &head) != nil || head.Metadata == nil {
		return false
	}
	_, ok := head.Metadata.Annotations[helmrelease.HookAnnotation]
	return ok
}

// fileAnnotation is the annotation in which Helm keeps the path of the template while post-renderers run. Here
// the index of the document follows the path.
const fileAnnotation = "postrenderer.helm.sh/postrender-filename"

// merge joins documents into one stream.
func merge(documents []*Document) (string, error) {
	var nodes []*kyaml.RNode
	limits := expansion()
	for i, d := range documents {
		if bad := expands(d.Text, limits); bad != nil {
			return "", d.problem(bad, true)
		}
		parsed, err := kio.ParseAll(d.Text)
		if err != nil {
			return "", d.problem(err, false)
		}
		for _, node := range parsed {
			if kind := node.GetKind(); kind != "" && node.GetName() == "" && !strings.HasSuffix(kind, "List") {
				return "", d.at(1, fmt.Sprintf("missing metadata.name in object %s %s: objects pass through post-renderers by their names", node.GetApiVersion(), kind))
			}
			if err := node.PipeE(kyaml.SetAnnotation(fileAnnotation, mark(d.File.Name, i))); err != nil {
				return "", d.problem(err, false)
			}
			nodes = append(nodes, node)
		}
	}
	return kio.StringAll(nodes)
}

// expansion returns the limits for a document with its aliases expanded.
func expansion() tree.Limits {
	limits := tree.Limits{}.WithDefaults()
	limits.Keys = limits.Nodes
	return limits
}

func expands(text string, limits tree.Limits) error {
	if tree.Harmless([]byte(text), limits) {
		return nil
	}
	if bad := tree.Guard([]byte(text), limits); bad != nil {
		return bad
	}
	return nil
}

// mark returns the value of the annotation, unmark parses it.
func mark(name string, i int) string { return name + "#" + strconv.Itoa(i) }

func unmark(value string) (name string, i int) {
	at := strings.LastIndexByte(value, '#')
	if at < 0 {
		return value, -1
	}
	i, err := strconv.Atoi(value[at+1:])
	if err != nil {
		return value, -1
	}
	return value[:at], i
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// problem returns the problem for an error in a document, at the template line that wrote the error's line.
func (d *Document) problem(err error, refused bool) error {
	line := 1
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ = strconv.Atoi(found[1])
	}
	p := d.at(line, fmt.Sprintf("the output is not valid YAML: %v", err))
	p.Refused = refused
	return p
}

// at returns a problem with a line of a document, at the template line that wrote it.
func (d *Document) at(line int, message string) *Problem {
	p := &Problem{File: d.File.Name, Line: 1, Message: message}
	for _, place := range d.File.At(d.Offset + lineStart(d.Text, line)).Places {
		if place.File != "" {
			p.File, p.Line = place.File, place.Line
			break
		}
	}
	return p
}

// lineStart returns the offset of the first character of a line, counted from 1.
func lineStart(text string, line int) int {
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 || at+next+1 >= len(text) {
			break
		}
		at += next + 1
	}
	return at
}
