package kustomize

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// failure is an error of kustomize, to be explained by means of the files.
type failure struct {
	source  *Source
	closure *build.Closure
	// text is kustomize's message, sentence the cause in it.
	text, sentence string
}

// explanation rewrites a class of failures. It is passed the matches of its pattern in the sentence. It returns an
// empty position if it does not know the place.
type explanation struct {
	pattern *regexp.Regexp
	explain func(f *failure, m []string) (tree.Position, string)
}

func on(pattern string, explain func(f *failure, m []string) (tree.Position, string)) explanation {
	return explanation{regexp.MustCompile(pattern), explain}
}

// resID matches the identity of a resource in kustomize's messages.
const resID = `([^\s.]+)\.[^/]*/([^\s;\[]+)\.(\[noNs\]|[^\s;.\[\]"]+)`

// explanations are the common classes of failures.
var explanations = []explanation{
	on(`no matches for Id `+resID+`; failed to find unique target for patch|no resource matches strategic merge patch "?`+resID, func(f *failure, m []string) (tree.Position, string) {
		if m[1] == "" {
			m = m[3:]
		}
		return f.patchOf(m[1], m[2]), fmt.Sprintf("the patch is of %s, and there is no such resource", named(m[1:]))
	}),
	on(`may not add resource with an already registered id: `+resID, func(f *failure, m []string) (tree.Position, string) {
		pos, value := f.entry(lastFrom.FindAllStringSubmatch(clean(f.text), -1))
		if value == "" {
			return pos, fmt.Sprintf("%s is there twice", named(m[1:]))
		}
		return pos, fmt.Sprintf("%s is there twice: %s has it as well", named(m[1:]), build.Quote(value))
	}),
	on(`Kind:"([^"]*)".* Name:"([^"]*)".* exists; can not use behavior: '([^']*)'`, func(f *failure, m []string) (tree.Position, string) {
		return f.generator(m[1], m[2]), fmt.Sprintf("a generator makes %s %s, which is there already: it needs behavior: merge or behavior: replace", m[1], m[2])
	}),
	on(`Kind:"([^"]*)".* Name:"([^"]*)".* does not exist; cannot merge or replace`, func(f *failure, m []string) (tree.Position, string) {
		return f.generator(m[1], m[2]), fmt.Sprintf("a generator is to merge into or replace %s %s, which does not exist", m[1], m[2])
	}),
	on(`(configmap|secret) (\S+) illegally repeats the key .(\S+?).$`, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[2]), fmt.Sprintf("the generator of %s has the key %q more than once", m[2], m[3])
	}),
	on(`invalid literal source (.*), expected key=value`, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[1]), fmt.Sprintf("the literal %q has no value: it has to be key=value", m[1])
	}),
	on(`(\w+) operation does not apply: doc is missing (?:path|key): "?([^":\s]+)"?`, func(f *failure, m []string) (tree.Position, string) {
		return f.patchWith(m[2]), fmt.Sprintf("the patch cannot %s %s: the object has no such field", m[1], m[2])
	}),
	on(`testing value (\S+) failed`, func(f *failure, m []string) (tree.Position, string) {
		return f.patchWith(m[1]), fmt.Sprintf("the patch tests %s, which has another value", m[1])
	}),
	on(`^Unexpected kind: (.*)`, func(f *failure, m []string) (tree.Position, string) {
		return f.patchWith(m[1]), fmt.Sprintf("the patch has the operation %q: it has to be add, remove, replace, move, copy or test", m[1])
	}),
	on(`unable to parse SM or JSON patch from`, func(f *failure, _ []string) (tree.Position, string) {
		return f.quotedPatch(), "the patch is neither a strategic merge patch nor a JSON patch"
	}),
	on(`must specify one of patch and path`, func(f *failure, _ []string) (tree.Position, string) {
		return f.patchWithout(), "an entry of patches needs patch or path"
	}),
	on(`must specify a target for JSON patch`, func(f *failure, _ []string) (tree.Position, string) {
		return f.quotedPatch(), "a JSON patch needs a target"
	}),
	on(`convert \S+ to JSON: yaml: unmarshal errors: line \d+: mapping key "([^"]*)" already defined`, func(f *failure, m []string) (tree.Position, string) {
		return f.document(func(n *yaml.Node) bool { return n.Decode(new(any)) != nil }), fmt.Sprintf("the key %q is repeated in a map", m[1])
	}),
	on(`convert `+resID+` to JSON: json: unsupported type`, func(_ *failure, m []string) (tree.Position, string) {
		return tree.Position{}, fmt.Sprintf("a key of %s is not a string", named(m[1:]))
	}),
	on(`namespace transformation produces ID conflict: .*"kind":"([^"]*)".*"name":"([^"]*)","namespace":"([^"]*)"`, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[3]), fmt.Sprintf("in namespace %s there would be %s %s twice", m[3], m[1], m[2])
	}),
	on(`missing metadata.name in object \{\{\S* (\S*)\}`, func(f *failure, m []string) (tree.Position, string) {
		return f.document(func(n *yaml.Node) bool { return child(child(n, "metadata"), "name").Kind != yaml.ScalarNode }), fmt.Sprintf("an object of kind %s has no metadata.name that is a string", m[1])
	}),
	on(`missing kind in object`, func(f *failure, _ []string) (tree.Position, string) {
		return f.document(func(n *yaml.Node) bool { return child(n, "kind").Kind != yaml.ScalarNode }), "an object has no kind"
	}),
	on(`missing Resource metadata`, func(f *failure, _ []string) (tree.Position, string) {
		return f.document(func(n *yaml.Node) bool { return child(n, "metadata").Kind != yaml.MappingNode }), "a document is not an object: it has no apiVersion, kind and metadata"
	}),
	on(`nothing selected by `+resID, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[2]), fmt.Sprintf("a replacement takes its value from %s, and there is no such resource", named(m[1:]))
	}),
	on(`fieldPath .(\S+). is missing for replacement source `+resID, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[1]), fmt.Sprintf("a replacement takes its value from %s of %s, which has no such field", m[1], named(m[2:]))
	}),
	on(`unable to find field "([^"]*)" in replacement target`, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[1]), fmt.Sprintf("the target of a replacement has no field %s; with options: {create: true} it is made", m[1])
	}),
	on(`^var '\{(\S+) ([^\s.]+)\..*cannot be mapped`, func(f *failure, m []string) (tree.Position, string) {
		return f.scalar(m[1]), fmt.Sprintf("var %s is of a %s that is not among the resources", m[1], m[2])
	}),
	on(`expected kind 'Component' for path '([^']*)'?`, func(f *failure, m []string) (tree.Position, string) {
		pos, _ := f.entry([][]string{m})
		return pos, fmt.Sprintf("%s is used as a component, and is none: list it under resources, or give it kind: Component", m[1])
	}),
	on(`expected kind != 'Component' for path '([^']*)'?`, func(f *failure, m []string) (tree.Position, string) {
		pos, _ := f.entry([][]string{m})
		return pos, fmt.Sprintf("%s is a Component: list it under components", m[1])
	}),
	on(`^Failed to read kustomization file under (\S+): (kind|apiVersion)(?: for \S+)? should be (.*)`, func(f *failure, m []string) (tree.Position, string) {
		return f.field(m[1], m[2]), fmt.Sprintf("%s has to be %s", m[2], m[3])
	}),
	on(`unable to load builtin ([^\s.]+)\.`, func(f *failure, m []string) (tree.Position, string) {
		return f.mentioned("kind: " + m[1]), fmt.Sprintf("there is no builtin plugin %s", m[1])
	}),
	on(`^kustomization.yaml is empty`, func(f *failure, _ []string) (tree.Position, string) {
		pos, _, _ := deepestKustomization(f.text, f.closure)
		return pos, "a kustomization has no fields but kind and apiVersion"
	}),
	on(`security; file '([^']*)' is not in or below '([^']*)'`, func(f *failure, m []string) (tree.Position, string) {
		pos, _ := f.entry([][]string{m[:2]})
		return pos, fmt.Sprintf("%s is outside of %s, where LoadRestrictionsRootOnly does not let a kustomization read", m[1], m[2])
	}),
	on(`wrong Node Kind for (\S*) expected: (\w+)Node was (\w+)Node`, func(_ *failure, m []string) (tree.Position, string) {
		what := "a field"
		if m[1] != "" {
			what = m[1]
		}
		return tree.Position{}, fmt.Sprintf("%s is %s, and has to be %s", what, nodeWord(m[3]), nodeWord(m[2]))
	}),
}

// lastFrom matches the path that kustomize was processing.
var lastFrom = regexp.MustCompile(`(?:from|path) '([^']*)'`)

// knownFailure returns the explanation of a failure and its place; ok is false for an unknown failure.
func (f *failure) knownFailure() (pos tree.Position, message string, ok bool) {
	for _, s := range explanations {
		if m := s.pattern.FindStringSubmatch(f.sentence); m != nil {
			pos, message = s.explain(f, m)
			return pos, message, true
		}
	}
	return pos, "", false
}

// named returns the description of a resource from the matches of resID.
func named(m []string) string {
	if m[2] == "[noNs]" || m[2] == "" {
		return m[0] + " " + m[1]
	}
	return m[0] + " " + m[1] + " in namespace " + m[2]
}

func nodeWord(kind string) string {
	switch kind {
	case "Mapping":
		return "a map"
	case "Sequence":
		return "a list"
	}
	return "a single value"
}

// entry returns the last entry that one of the matches names, and its value.
func (f *failure) entry(matches [][]string) (tree.Position, string) {
	for _, m := range slices.Backward(matches) {
		for _, e := range slices.Backward(f.closure.Entries) {
			if m[1] != "" && (e.Value == m[1] || e.Target == m[1]) {
				return e.Position(), e.Value
			}
		}
	}
	return tree.Position{}, ""
}

// patch returns the position of the first patch with a given property.
func (f *failure) patch(is func(text string) bool) tree.Position {
	for _, e := range f.closure.Entries {
		if (e.Kind == build.RefInline || e.Kind == build.RefPatch) && is(f.source.patchText(e)) {
			return e.Position()
		}
	}
	return tree.Position{}
}

func (f *failure) patchOf(kind, name string) tree.Position {
	return f.patch(func(text string) bool { return mentions(text, kind, name) })
}

func (f *failure) patchWith(word string) tree.Position {
	return f.patch(func(text string) bool { return strings.Contains(text, strings.Trim(word, `"`)) })
}

// quotedPatch returns the position of the patch whose text is in kustomize's message.
func (f *failure) quotedPatch() tree.Position {
	message := clean(f.text)
	return f.patch(func(text string) bool { text = clean(text); return text != "" && strings.Contains(message, text) })
}

// patchWithout returns the position of the entry in patches that has neither a patch nor a path.
func (f *failure) patchWithout() tree.Position {
	for _, k := range f.closure.Files {
		for i, p := range k.Spec.Patches {
			if p.Patch == "" && p.Path == "" {
				return k.Position("patches", i)
			}
		}
	}
	return tree.Position{}
}

// generator returns the position of the name of a generated ConfigMap or Secret.
func (f *failure) generator(kind, name string) tree.Position {
	for _, k := range slices.Backward(f.closure.Files) {
		for i, g := range k.Spec.ConfigMapGenerator {
			if kind == "ConfigMap" && g.Name == name {
				return k.Position("configMapGenerator", i, "name")
			}
		}
		for i, g := range k.Spec.SecretGenerator {
			if kind == "Secret" && g.Name == name {
				return k.Position("secretGenerator", i, "name")
			}
		}
	}
	return tree.Position{}
}

// scalar returns the position of a value in a kustomization.
func (f *failure) scalar(value string) tree.Position {
	for _, k := range slices.Backward(f.closure.Files) {
		if n := findScalar(k.Document(), value); n != nil {
			return tree.Position{Path: k.Path, Line: n.Line, Column: n.Column}
		}
	}
	return tree.Position{}
}

func findScalar(n *yaml.Node, value string) *yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return n
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue // a key
		}
		if found := findScalar(child, value); found != nil {
			return found
		}
	}
	return nil
}

// field returns the position of a field in the kustomization of a directory.
func (f *failure) field(dir, name string) tree.Position {
	for _, k := range f.closure.Files {
		if k.Dir == path.Clean(dir) {
			return k.FieldPosition(name)
		}
	}
	return tree.Position{}
}

// mentioned returns the position of the first file with a text, among the files of entries.
func (f *failure) mentioned(text string) tree.Position {
	for _, e := range f.closure.Entries {
		if data, real, err := f.source.tree.Load(e.Target, tree.NewTrace()); e.Target != "" && err == nil && strings.Contains(string(data), text) {
			return tree.Position{Path: real, Line: 1}
		}
	}
	return tree.Position{}
}

// document returns the position of the first wrong document of the resources.
func (f *failure) document(wrong func(*yaml.Node) bool) tree.Position {
	for _, e := range f.closure.Entries {
		to := f.source.tree.Resolve(e.Target)
		if e.Kind != build.RefResource || e.Target == "" || to.Err != nil || to.IsDir {
			continue
		}
		data, err := f.source.tree.Read(to.Real)
		if err != nil {
			continue
		}
		for _, c := range tree.SplitChunks(tree.Normalize(data)) {
			if doc := tree.ParseFile([]byte(c.Text)); doc != nil && wrong(doc) {
				return tree.Position{Path: to.Real, Line: c.Line + doc.Line}
			}
		}
	}
	return tree.Position{}
}

// child returns the value of a key; an empty node when there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}
