package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
)

// policies reads policies.yaml and the paths that requests.yaml names, in this
// order.
func (l *loader) policies(f *file, paths []string) ([]*admission.Object, error) {
	objects, err := l.optionalObjects(PoliciesFile)
	if err != nil {
		return nil, err
	}
	for i, name := range paths {
		more, err := l.policyPath(name)
		located := new(Error)
		if err != nil && !errors.As(err, &located) {
			f.fail(fmt.Sprintf("policies[%d]", i), "%v", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, inOrder(f.errs)
}

// policyPath reads a file, or all YAML and JSON files of a directory in the order
// of their names. An error that is not an *Error is one of the path itself.
func (l *loader) policyPath(name string) ([]*admission.Object, error) {
	if name == "" || path.IsAbs(name) {
		return nil, fmt.Errorf("%q: give a path relative to the suite", name)
	}
	full := path.Join(l.dir, name)
	if !fs.ValidPath(full) {
		return nil, fmt.Errorf("%q is out of reach", name)
	}
	info, err := fs.Stat(l.fsys, full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no %s", l.show(name))
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", l.show(name), err)
	case !info.IsDir():
		return l.objects(name)
	}
	return l.policyDirectory(name, full)
}

func (l *loader) policyDirectory(name, full string) ([]*admission.Object, error) {
	var objects []*admission.Object
	err := fs.WalkDir(l.fsys, full, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isManifest(entry.Name()) {
			return err
		}
		inside := strings.TrimPrefix(strings.TrimPrefix(file, full), "/")
		more, err := l.objects(path.Join(name, inside))
		objects = append(objects, more...)
		return err
	})
	if err == nil && len(objects) == 0 {
		err = fmt.Errorf("%s holds no objects: it has no YAML or JSON files", l.show(name))
	}
	return objects, err
}

// isManifest leaves out kustomizations: they are no objects.
func isManifest(name string) bool {
	return strings.TrimSuffix(name, path.Ext(name)) != "kustomization" && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// optionalObjects reads the objects of a file, none when there is no such file.
func (l *loader) optionalObjects(name string) ([]*admission.Object, error) {
	objects, err := l.objects(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return objects, err
}

// objects reads the objects of a multi-document file.
func (l *loader) objects(name string) ([]*admission.Object, error) {
	data, err := l.read(name)
	if err != nil {
		return nil, err
	}
	var objects []*admission.Object
	for _, d := range documents(string(data)) {
		more, err := d.objects(l.show(name))
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// document is a YAML document as text; line is the number of lines before it.
type document struct {
	text string
	line int
}

// documents splits a file at its "---" lines. No such line can be inside a
// document: a scalar that starts a line ends there too.
func documents(text string) []document {
	var all []document
	var current strings.Builder
	start := 0
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if line == "---" || strings.HasPrefix(line, "---\n") || strings.HasPrefix(line, "---\r") || strings.HasPrefix(line, "--- ") {
			all = append(all, document{current.String(), start})
			current.Reset()
			start = i
		}
		current.WriteString(line)
	}
	return append(all, document{current.String(), start})
}

// objects gives what a document holds: an object, those of a List, or nothing.
func (d document) objects(path string) ([]*admission.Object, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(d.text), &node); err != nil {
		return nil, syntaxError(path, err, d.line)
	}
	if len(node.Content) == 0 || node.Content[0].ShortTag() == "!!null" {
		return nil, nil
	}
	top, f := node.Content[0], &file{path: path}
	if top.Kind != yaml.MappingNode {
		f.failAt(top, "", "want a Kubernetes object, not %s", describe(top))
	}
	f.unique("", top)
	for _, e := range f.errs {
		e.Line += d.line
	}
	if err := inOrder(f.errs); err != nil {
		return nil, err
	}
	asJSON, err := sigsyaml.YAMLToJSON([]byte(d.text))
	var content map[string]any
	if err == nil {
		err = utiljson.Unmarshal(asJSON, &content)
	}
	if err != nil {
		return nil, syntaxError(path, err, d.line)
	}
	return expand(path, d.line+top.Line, content)
}

// expand gives the objects of a document: those of a List, else itself.
func expand(path string, line int, content map[string]any) ([]*admission.Object, error) {
	items, isList := content["items"].([]any)
	if content["kind"] != "List" || !isList {
		o := admission.NewObject(content)
		if kind := o.GroupVersionKind(); kind.Kind == "" || kind.Version == "" {
			return nil, &Error{Path: path, Line: line, Column: 1, Message: "no Kubernetes object: apiVersion and kind are required"}
		}
		return []*admission.Object{o}, nil
	}
	var objects []*admission.Object
	for _, item := range items {
		m, _ := item.(map[string]any)
		more, err := expand(path, line, m)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}
