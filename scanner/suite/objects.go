package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/admission"
)

// policies reads policies.yaml, then the paths that requests.yaml names.
func (l *loader) policies(f *fields, paths []string) ([]*admission.Object, error) {
	objects, err := l.optionalObjects(PoliciesFile)
	if err != nil {
		return nil, err
	}
	for i, name := range paths {
		more, err := l.policyPath(name)
		located := new(strictyaml.Error)
		if err != nil && !errors.As(err, &located) {
			f.Fail(fmt.Sprintf("policies[%d]", i), "%v", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, f.Err()
}

// policyPath reads a file, or all YAML and JSON files of a directory, sorted by name. An error that
// is not a *strictyaml.Error is about the path itself.
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

// isManifest reports whether a file may have objects, by its name. A kustomization has none.
func isManifest(name string) bool {
	return tree.IsManifestName(name) && !tree.IsKustomizationName(name)
}

// optionalObjects reads the objects of a file, none if the file does not exist.
func (l *loader) optionalObjects(name string) ([]*admission.Object, error) {
	objects, err := l.objects(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return objects, err
}

// objects reads the objects of a file with any number of documents.
func (l *loader) objects(name string) ([]*admission.Object, error) {
	data, err := l.read(name)
	if err != nil {
		return nil, err
	}
	documents, broken := strictyaml.ParseAll(l.show(name), data)
	var objects []*admission.Object
	for _, d := range documents {
		more, err := documentObjects(d, l.show(name))
		if err != nil {
			return nil, err
		}
		for _, o := range more {
			l.places[o] = place{l.show(name), d.Line("")}
		}
		objects = append(objects, more...)
	}
	return objects, broken
}

// documentObjects returns the objects of a document: one, or those of a List.
func documentObjects(d *strictyaml.Document, path string) ([]*admission.Object, error) {
	var object content
	if err := d.DecodeManifest(&object); err != nil {
		return nil, err
	}
	return expand(path, d.Line(""), object)
}

// expand returns the objects of a document: those of a list, or the document itself. As for kubectl,
// anything with items is a list, and items without a kind take it from the list.
func expand(path string, line int, content map[string]any) ([]*admission.Object, error) {
	items, isList := content["items"].([]any)
	if !isList {
		o := admission.NewObject(content)
		if kind := o.GroupVersionKind(); kind.Kind == "" || kind.Version == "" {
			return nil, &strictyaml.Error{Path: path, Line: line, Column: 1, Message: "no Kubernetes object: apiVersion and kind are required"}
		}
		return []*admission.Object{o}, nil
	}
	var objects []*admission.Object
	for _, item := range items {
		m, _ := item.(map[string]any)
		if kind, _ := content["kind"].(string); m != nil && m["kind"] == nil && kind != "List" {
			m["apiVersion"], m["kind"] = content["apiVersion"], strings.TrimSuffix(kind, "List")
		}
		more, err := expand(path, line, m)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}
