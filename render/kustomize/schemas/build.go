package schemas

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// Files are the files of a closure whose schemas may be left out of builds.
type Files struct {
	tree *tree.Tree
	// resources are the resource files; empty if something may read or write schemas.
	resources map[string]bool
}

// Of returns the files of a closure.
func Of(t *tree.Tree, c *build.Closure) *Files {
	f := &Files{tree: t, resources: map[string]bool{}}
	if c.Openapi != nil { // may make kustomize merge lists of schemas
		return f
	}
	for _, k := range c.Files {
		if len(k.Spec.Transformers)+len(k.Spec.Validators) > 0 || mentions(k.Document()) {
			return f
		}
	}
	asked := map[string]bool{}
	for _, e := range c.Entries {
		to := t.Resolve(e.Target)
		switch {
		case e.Target == "" || to.Err != nil || to.IsDir:
		case e.Kind == build.RefResource:
			f.resources[to.Real] = true
		case !asked[to.Real] && f.mention(to.Real):
			f.resources = nil
			return f
		default:
			asked[to.Real] = true
		}
	}
	return f
}

// Build is one build without schemas. It is not safe for concurrent use.
type Build struct {
	files *Files
	// serve, if not nil, changes a file afterwards.
	serve build.ServeFunc
	// mark is the prefix of the build's marks. It is random, so that no file contains it.
	mark string
	// left are the schemas that were left out; a mark ends with the index.
	left []left
}

// left is a schema that was left out of a file.
type left struct {
	schema
	document *document
}

// Build returns a build in which kustomize reads files without schemas, changed by serve if it is not nil.
func (f *Files) Build(serve build.ServeFunc) *Build {
	return &Build{files: f, serve: serve, mark: "preadmit.internal/schema-" + rand.Text() + "-"}
}

// Serve returns a file with marks instead of schemas. All lines keep their numbers.
func (b *Build) Serve(real string, data []byte) []byte {
	if b.files.resources[real] {
		data = b.leaveOut(real, data)
	}
	if b.serve == nil {
		return data
	}
	return b.serve(real, data)
}

func (b *Build) leaveOut(real string, data []byte) []byte {
	f := fileAt(b.files.tree, real, data)
	if len(f.schemas) == 0 {
		return data
	}
	var out bytes.Buffer
	from := 0
	var d *document
	for _, s := range f.schemas {
		if d == nil || d.begin != s.begin {
			d = newDocument(real, data, s)
		}
		out.Write(data[from:s.from])
		out.WriteString(s.inPlace(b.mark + strconv.Itoa(len(b.left))))
		b.left, from = append(b.left, left{s, d}), s.to
	}
	out.Write(data[from:])
	return out.Bytes()
}

// LeftOut reports whether a schema was left out.
func (b *Build) LeftOut() bool { return len(b.left) > 0 }

// Restored is an object whose schemas were restored.
type Restored struct {
	// Index is the index of the object.
	Index int
	// without is the JSON of the object with marks.
	without []byte
}

// Restore puts the schemas into the objects that kustomize built, and returns those that have one. It fails
// unless each mark is found exactly once, as the value of a schema field.
func (b *Build) Restore(objects []*render.Object) (with []Restored, err error) {
	if !b.LeftOut() {
		return nil, nil
	}
	found := map[int]bool{}
	for i, o := range objects {
		text, err := b.restore(o.JSON, found)
		if err != nil {
			return nil, err
		}
		if text != nil {
			objects[i] = render.NewObject(text, o.Index)
			with = append(with, Restored{i, o.JSON})
		}
	}
	if n := len(b.left) - len(found); n > 0 {
		return nil, fmt.Errorf("%d of %d schemas are not in what kustomize built", n, len(b.left))
	}
	return with, nil
}

// restore returns the JSON of an object with its schemas; nil if it has no mark.
func (b *Build) restore(text []byte, found map[int]bool) ([]byte, error) {
	before, mark := []byte(`"`+field+`":"`+b.mark), []byte(b.mark)
	if !bytes.Contains(text, mark) {
		return nil, nil
	}
	var out bytes.Buffer
	for {
		at := bytes.Index(text, mark)
		if at < 0 {
			out.Write(text)
			return out.Bytes(), nil
		}
		number, rest, ok := bytes.Cut(text[at+len(mark):], []byte(`"`))
		n, err := strconv.Atoi(string(number))
		if !ok || err != nil || n >= len(b.left) || found[n] || !bytes.HasSuffix(text[:at+len(mark)], before) {
			return nil, fmt.Errorf("the mark of a schema is at another place: %.80s", text[at:])
		}
		found[n] = true
		out.Write(text[:at-1]) // without the quotation mark
		out.Write(b.left[n].json)
		text = rest
	}
}

// mention reports whether a file that is no resource may contain the name of the schema field.
func (f *Files) mention(real string) bool {
	data, _, err := f.tree.Load(real, tree.NewTrace())
	if err != nil || !bytes.Contains(data, []byte("API")) && !bytes.ContainsAny(data, `\!`) {
		return err != nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			return bytes.Contains(data, []byte(field))
		}
		if mentions(&doc) {
			return true
		}
	}
}

// mentions reports whether a scalar contains the name of the schema field.
func mentions(node *yaml.Node) bool {
	if node == nil {
		return false
	}
	if strings.Contains(node.Value, field) {
		return true
	}
	for _, child := range node.Content {
		if mentions(child) {
			return true
		}
	}
	return false
}
