package release

import (
	"encoding/json"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// crdFiles are the files of crds/ that were parsed. They are safe for concurrent use.
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
}

// parse returns the parsed files, which are parsed once, several at a time.
func (fs *crdFiles) parse(crds []helmchart.CRD) []*crdFile {
	files := make([]*crdFile, len(crds))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, crd := range crds {
		group.Go(func() error {
			files[i] = fs.file(crd)()
			return nil
		})
	}
	_ = group.Wait() // no function fails
	return files
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
		text, err := sigsyaml.YAMLToJSON(d.Text)
		made.documents = append(made.documents, crdDocument{d.Line + 1, text, err})
	}
	return made
}

// CRDs returns the documents in crds/ of the chart and its dependencies, as JSON. Those that cannot be read are not
// among them.
func (c *Chart) CRDs() [][]byte {
	var texts [][]byte
	for _, f := range c.files.parse(c.CRDObjects()) {
		for _, d := range f.documents {
			if d.err == nil {
				texts = append(texts, d.text)
			}
		}
	}
	return texts
}

// definitions returns what is in crds/ of a chart and its dependencies: as printed, or only the
// CustomResourceDefinitions, which Flux applies.
func (fs *crdFiles) definitions(crds []helmchart.CRD, labels map[string]string, printed bool) ([]*Object, error) {
	var all []*Object
	for i, f := range fs.parse(crds) {
		name := crds[i].Filename
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
	}
	return all, nil
}

// object is the object of a document; nil if it is none, or not a definition and only those are wanted.
func (d crdDocument) object(file string, labels map[string]string, all bool) *Object {
	content := (&render.Object{JSON: d.text}).Content()
	version, _ := content["apiVersion"].(string)
	if content == nil || !all && (content["kind"] != "CustomResourceDefinition" || !strings.HasPrefix(version, "apiextensions.k8s.io/")) {
		return nil
	}
	for key, value := range labels {
		field(field(content, "metadata"), "labels")[key] = value
	}
	return &Object{JSON: encode(content), File: file}
}

// encode encodes what was decoded from JSON.
func encode(content map[string]any) []byte {
	data, _ := json.Marshal(content) // it was JSON
	return data
}
