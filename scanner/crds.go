package scanner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/config"
)

// maxDefinitions is the maximum size in bytes of the CustomResourceDefinitions of a source.
const maxDefinitions = 64 << 20

// loadDefinitions loads the CustomResourceDefinitions from the sources in the configuration. A
// missing source is reported: objects of its kinds are then unknown.
func (s *scan) loadDefinitions(ctx context.Context) error {
	for _, source := range s.in.Config.CRDs {
		objects, err := s.definitions(ctx, &source)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.ledger.Note(report.Diagnostic{
				Severity: "warning", Message: "CustomResourceDefinitions are missing: " + err.Error(),
				Location: &report.Location{Path: config.FileName, StartLine: max(1, source.Line), StartColumn: 1, Tree: s.configTree()},
			})
		}
		s.extras = append(s.extras, objects...)
	}
	return nil
}

// configTree returns the tree whose configuration is used.
func (s *scan) configTree() string {
	if s.in.Base == nil {
		return "head"
	}
	return "base"
}

// definitions returns the CustomResourceDefinitions of a source.
func (s *scan) definitions(ctx context.Context, source *config.CRDSource) ([]*admission.Object, error) {
	a := source.Artifact()
	text, err := s.definitionFiles(source, a)
	if errors.Is(err, tree.ErrNoArtifacts) {
		err = &artifact.MissingError{Artifact: a, Why: "there is no preadmit.lock", Hint: "preadmit fetch gets it"}
	}
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(a.URL, "https://")
	objects, err := s.loadExtra(ctx, Extra{Name: name, FS: memfs.OneFile("crds.yaml", text)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	return slices.DeleteFunc(objects, func(o *admission.Object) bool { return o.GroupVersionKind().GroupKind() != definitionKind }), nil
}

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// definitionFiles returns the documents of a source that may be CustomResourceDefinitions.
func (s *scan) definitionFiles(source *config.CRDSource, a artifact.Artifact) ([]byte, error) {
	in := s.in.Head.FS
	if s.in.Base != nil {
		in = s.in.Base.FS
	}
	from, found := &tree.Tree{Fsys: in}, definitionText{}
	if a.Kind == artifact.Git {
		top, ok, err := from.Mount(a)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, tree.ErrNoArtifacts
		}
		if err := found.walk(in, path.Join(top, source.Path)); err != nil {
			return nil, fmt.Errorf("%s: %w", a, err)
		}
		return found.whole(a)
	}
	data, _, err := from.Bytes(a)
	if err != nil {
		return nil, err
	}
	if a.Kind == artifact.File {
		return found.add(data).whole(a)
	}
	files, err := chart.Definitions(data, chart.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	for _, f := range files {
		found.add(f.Data)
	}
	return found.whole(a)
}

// definitionText collects YAML documents that may be CustomResourceDefinitions.
type definitionText struct{ bytes.Buffer }

// add adds the documents of a file that mention CustomResourceDefinition.
func (t *definitionText) add(data []byte) *definitionText {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	for document := range bytes.SplitSeq(append([]byte("\n"), data...), []byte("\n---")) {
		if bytes.Contains(document, []byte("CustomResourceDefinition")) {
			_, _ = t.WriteString("\n---")
			_, _ = t.Write(document)
		}
	}
	return t
}

// walk adds the files of a directory, or a single file.
func (t *definitionText) walk(in fs.FS, top string) error {
	return fs.WalkDir(in, top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)):
			return nil
		}
		data, err := fs.ReadFile(in, name)
		if err == nil && t.Len()+len(data) > maxDefinitions {
			err = fmt.Errorf("there are more than %d bytes of YAML", maxDefinitions)
		}
		if err != nil {
			return err
		}
		t.add(data)
		return nil
	})
}

// whole returns the collected text, or an error if it is empty or too large.
func (t *definitionText) whole(a artifact.Artifact) ([]byte, error) {
	switch {
	case t.Len() > maxDefinitions:
		return nil, fmt.Errorf("%s has more than %d bytes of CustomResourceDefinitions", a, maxDefinitions)
	case t.Len() > 0:
		return t.Bytes(), nil
	case a.Kind == artifact.Chart:
		return nil, fmt.Errorf("%s has no CustomResourceDefinitions in its directory crds: name a file of the release, or its git repository", a)
	}
	return nil, fmt.Errorf("%s has no CustomResourceDefinitions", a)
}
