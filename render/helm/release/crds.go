package release

import (
	"encoding/json"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

// crdFiles caches the parsed files of crds/. It is safe for concurrent use.
type crdFiles struct {
	mu  sync.Mutex
	all map[*common.File]func() *crdFile
}

// crdFile is a file of crds/.
type crdFile struct {
	documents []crdDocument
	bad       *tree.SyntaxError
}

// crdDocument is a document of a file, as JSON.
type crdDocument struct {
	line int
	text []byte
	err  error
	// defines is the definition in the document; nil if it is no CustomResourceDefinition.
	defines *render.Definition
}

// parse returns the parsed files. Each is parsed once, several at a time.
func (fs *crdFiles) parse(crds []helmchart.CRD) []*crdFile {
	return each(crds, func(_ int, crd helmchart.CRD) *crdFile { return fs.file(crd)() })
}

// each applies a function to the items of a list, several at a time.
func each[T, U any](all []T, of func(i int, item T) U) []U {
	made := make([]U, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, item := range all {
		group.Go(func() error {
			made[i] = of(i, item)
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	return made
}

func (fs *crdFiles) file(crd helmchart.CRD) func() *crdFile {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	once, ok := fs.all[crd.File]
	if !ok {
		once = sync.OnceValue(func() *crdFile { return parseCRDs(crd.File) })
		fs.all[crd.File] = once
	}
	return once
}

func parseCRDs(f *common.File) *crdFile {
	made := &crdFile{}
	var documents []tree.Document
	if documents, made.bad = tree.SplitDocuments(f.Name, f.Data); made.bad != nil {
		return made
	}
	for _, d := range documents {
		document := crdDocument{line: d.Line + 1}
		if document.text, document.err = sigsyaml.YAMLToJSON(d.Text); document.err == nil {
			if defines, ok := render.DefinitionOf(document.text); ok {
				document.defines = &defines
			}
		}
		made.documents = append(made.documents, document)
	}
	return made
}

// Definitions returns the CustomResourceDefinitions in crds/ of the chart and its dependencies, without
// dependencies that the user's values disable and without invalid files.
func (c *Chart) Definitions(user map[string]any) []render.Definition {
	of := c.Chart
	if len(of.Dependencies()) > 0 && len(of.CRDObjects()) > 0 {
		if enabled := chart.Copy(of); chartutil.ProcessDependencies(enabled, user) == nil { // else rendering reports the error
			of = enabled
		}
	}
	var all []render.Definition
	for _, f := range c.files.parse(of.CRDObjects()) {
		for _, d := range f.documents {
			if d.defines != nil {
				all = append(all, *d.defines)
			}
		}
	}
	return all
}

// definitions returns the objects in crds/ of a chart and its dependencies: all if printed, else only the
// CustomResourceDefinitions, which Flux applies.
func (fs *crdFiles) definitions(crds []helmchart.CRD, labels map[string]string, printed bool) ([]*Object, error) {
	type objects struct {
		all []*Object
		err error
	}
	var all []*Object
	for _, of := range each(fs.parse(crds), func(i int, f *crdFile) objects {
		found, err := f.objects(crds[i].Filename, labels, printed)
		return objects{found, err}
	}) {
		if of.err != nil {
			return nil, of.err
		}
		all = append(all, of.all...)
	}
	return all, nil
}

// objects returns the objects of the file, whose name is given.
func (f *crdFile) objects(name string, labels map[string]string, printed bool) (all []*Object, err error) {
	if f.bad != nil {
		return nil, &Problem{File: name, Line: f.bad.Line, Message: f.bad.Message}
	}
	for _, d := range f.documents {
		if d.err != nil {
			return nil, &Problem{File: name, Line: d.line, Message: d.err.Error()}
		}
		if object := d.object(name, labels, printed); object != nil {
			all = append(all, object)
		}
	}
	return all, nil
}

// object returns the object of a document; nil if it is none, or if it is no definition and all is not set.
func (d crdDocument) object(file string, labels map[string]string, all bool) *Object {
	content := (&render.Object{JSON: d.text}).Content()
	version, _ := content["apiVersion"].(string)
	if content == nil || !all && (content["kind"] != "CustomResourceDefinition" || !strings.HasPrefix(version, "apiextensions.k8s.io/")) {
		return nil
	}
	for key, value := range labels {
		field(field(content, "metadata"), "labels")[key] = value
	}
	return &Object{JSON: encode(content), File: file, Defines: d.defines}
}

// encode encodes a value that was decoded from JSON.
func encode(content map[string]any) []byte {
	data, _ := json.Marshal(content) // cannot fail: decoded from JSON
	return data
}
