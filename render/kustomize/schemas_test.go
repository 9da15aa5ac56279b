package kustomize

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/schemas"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// definition returns a CustomResourceDefinition with a large schema that contains the given lines.
func definition(lines string) string {
	var fields strings.Builder
	for i := range 200 {
		fmt.Fprintf(&fields, "              field%d:\n                description: 'It is number %d: \"of\" many'\n                type: string\n", i, i)
	}
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
` + fields.String() + lines + `    served: true
    storage: true
`
}

// schemaCase is a repository with a CustomResourceDefinition in crd.yaml.
type schemaCase struct {
	kustomization string
	crd           string            // default: a plain one
	files         map[string]string // more files
	left          bool              // whether the schema is left out at first
	whole         bool              // whether the whole files are built then
	fails         bool              // whether kustomize fails
}

var schemaCases = map[string]schemaCase{
	"plain":       {left: true},
	"transformed": {kustomization: "namePrefix: a-\nnamespace: b\nlabels: [{pairs: {a: b}, includeSelectors: true}]\ncommonAnnotations: {c: d}\nimages: [{name: a, newTag: b}]\n", left: true},
	"two documents": {
		crd: definition("") + "--- # next\n" + strings.ReplaceAll(definition(""), "idget", "adget"), left: true,
	},
	"two versions": {
		crd: definition("") + strings.ReplaceAll(definition("")[strings.Index(definition(""), "  - name: v1"):], "v1", "v2"), left: true,
	},
	"v1beta1":        {crd: validation, left: true},
	"end of file":    {crd: strings.TrimSuffix(validation, "\n"), left: true},
	"blank lines":    {crd: definition("\n\n") + "\n\n", left: true},
	"texts":          {crd: definition("              a:\n                description: |-\n                  one\n\n                    two\n                enum: ['yes', \"no\", plain, 'multi\n                  line']\n                maximum: 10\n                nullable: true\n"), left: true},
	"deleted":        {kustomization: "patches: [{patch: '{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, $patch: delete}'}]\n", left: true, whole: true},
	"merge patch":    {kustomization: "patches: [{patch: '{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com, annotations: {a: b}}, spec: {conversion: {strategy: None}}}'}]\n", left: true},
	"JSON patch":     {kustomization: "patches:\n- target: {kind: CustomResourceDefinition}\n  patch: |-\n    - {op: add, path: /metadata/annotations, value: {a: b}}\n    - {op: replace, path: /spec/versions/0/served, value: false}\n", left: true},
	"versions":       {kustomization: "patches: [{patch: '{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {versions: [{name: v2}]}}'}]\n", left: true, whole: true},
	"copied version": {kustomization: "patches:\n- target: {kind: CustomResourceDefinition}\n  patch: |-\n    - {op: copy, from: /spec/versions/0, path: /spec/versions/1}\n", left: true, whole: true},
	"removed schema": {kustomization: "patches:\n- target: {kind: CustomResourceDefinition}\n  patch: |-\n    - {op: remove, path: /spec/versions/0/schema}\n", left: true, whole: true},
	"moved schema":   {kustomization: "patches:\n- target: {kind: CustomResourceDefinition}\n  patch: |-\n    - {op: move, from: \"/spec/versions/0/schema/open\\x41PIV3Schema\", path: /spec/versions/0/schema/other}\n", left: true, whole: true},
	"removed field":  {kustomization: "patches:\n- target: {kind: CustomResourceDefinition}\n  patch: |-\n    - {op: remove, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/field3}\n"},
	"patch in a file": {
		kustomization: "patches: [{target: {kind: CustomResourceDefinition}, path: patch.yaml}]\n",
		files:         map[string]string{"patch.yaml": "- {op: remove, path: \"/spec/versions/0/schema/open\\x41PIV3Schema/properties/spec/properties/field3\"}\n"},
	},
	"patched to text": {
		crd:           validation,
		kustomization: "patches: [{patch: '{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {validation: {\"open\\x41PIV3Schema\": none}}}'}]\n",
		left:          true, whole: true, fails: true,
	},
	"patched within": {
		crd:           validation,
		kustomization: "patches: [{patch: '{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {validation: {\"open\\x41PIV3Schema\": {type: array}}}}'}]\n",
		left:          true, whole: true,
	},
	"copied schema": {
		kustomization: "resources: [config.yaml, crd.yaml]\nreplacements:\n- source: {kind: CustomResourceDefinition, fieldPath: spec.versions.0.schema}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a], options: {create: true}}]\n",
		files:         map[string]string{"config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"},
		left:          true, whole: true,
	},
	"copied field": {
		kustomization: "resources: [config.yaml, crd.yaml]\nreplacements:\n- source: {kind: CustomResourceDefinition, fieldPath: spec.versions.0.schema.openAPIV3Schema.type}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a], options: {create: true}}]\n",
		files:         map[string]string{"config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"},
	},
	"replacements": {
		kustomization: "resources: [config.yaml, crd.yaml]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: metadata.name}\n  targets: [{select: {kind: CustomResourceDefinition}, fieldPaths: [spec.group]}]\n",
		files:         map[string]string{"config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"},
		left:          true,
	},
	"of a generator too": {kustomization: "configMapGenerator: [{name: c, files: [crd.yaml]}]\n"},
	"configuration": {
		kustomization: "configurations: [configuration.yaml]\nlabels: [{pairs: {a: b}}]\n",
		files:         map[string]string{"configuration.yaml": "commonLabels: [{path: spec/versions/schema/openAPIV3Schema, create: true}]\n"},
	},
	"transformer":      {kustomization: "transformers:\n- |\n  apiVersion: builtin\n  kind: LabelTransformer\n  metadata: {name: l}\n  labels: {a: b}\n  fieldSpecs: [{path: metadata/labels, create: true}]\n"},
	"null":             {crd: definition("              a: {type: string, default: null}\n")},
	"fraction":         {crd: definition("              a: {type: number, maximum: 1.0}\n")},
	"large number":     {crd: definition("              a: {type: integer, maximum: 9223372036854775807}\n")},
	"octal number":     {crd: definition("              a: {type: integer, maximum: 010}\n")},
	"date":             {crd: definition("              a: {type: string, default: 2001-01-01}\n")},
	"YAML 1.1 boolean": {crd: definition("              a: {type: string, enum: [yes]}\n")},
	"anchor":           {crd: definition("              a: &a {type: string}\n              b: *a\n")},
	"merge key":        {crd: definition("              a:\n                <<: {type: string}\n")},
	"key of no text":   {crd: definition("              1: {type: string}\n"), fails: true},
	"key twice":        {crd: definition("              a: {type: string}\n              a: {type: object}\n"), fails: true},
	"comment":          {crd: definition("              # {\"type\": \"array\"}\n              a: {type: string}\n")},
	"folded text":      {crd: definition("              a:\n                description: >\n                  one\n                    two\n                  three\n")},
	"tag":              {crd: definition("              a: {type: !!str string}\n")},
	"odd indentation":  {crd: definition("              a:\n                description: \"one\n two\"\n")},
	"Windows":          {crd: strings.ReplaceAll(definition(""), "\n", "\r\n")},
	"other line ends":  {crd: strings.ReplaceAll(definition("")+strings.Repeat("\n", 200), "metadata:\n", "metadata:\n  annotations: {a: \""+strings.Repeat("a\u0085", 700)+"\"}\n")},
	"a line end":       {crd: strings.ReplaceAll(definition(""), "metadata:\n", "metadata:\n  annotations: {a: \"a\u0085b\"}\n")},
	"in a line":        {crd: strings.ReplaceAll(definition(""), "openAPIV3Schema:", "openAPIV3Schema: # comment")},
	"broken":           {crd: definition("              a: [\n"), fails: true},
	"list":             {crd: "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(definition(""), "\n", "\n  ")},
	"another kind":     {crd: strings.ReplaceAll(definition(""), "kind: CustomResourceDefinition", "kind: Definition")},
	"small":            {crd: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n        type: object\n"},
}

// validation is a v1beta1 CustomResourceDefinition, with the schema at its end.
var validation = func() string {
	text := strings.ReplaceAll(definition(""), "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")
	head, schema, _ := strings.Cut(text, "  versions:\n  - name: v1\n    schema:\n")
	schema, _, _ = strings.Cut(schema, "    served: true\n")
	return head + "  validation:\n" + schema
}()

func (c schemaCase) source() *Source {
	kustomization := c.kustomization
	if !strings.Contains(kustomization, "resources:") {
		kustomization = "resources: [crd.yaml]\n" + kustomization
	}
	crd := c.crd
	if crd == "" {
		crd = definition("")
	}
	files := fstest.MapFS{"kustomization.yaml": {Data: []byte(kustomization)}, "crd.yaml": {Data: []byte(crd)}}
	for name, text := range c.files {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return New(tree.New(files, tree.Limits{}), render.Options{}).(*Source)
}

// TestSchemasLeftOut compares builds without schemas with kustomize's builds of the whole files.
func TestSchemasLeftOut(t *testing.T) {
	for name, c := range schemaCases {
		t.Run(name, func(t *testing.T) {
			r := c.source()
			closure := r.walk(".", tree.NewTrace())
			if p := r.problem(closure); p != nil {
				t.Fatal(p)
			}
			fsys := func() *build.FileSystem {
				return &build.FileSystem{Tree: r.tree, Trace: tree.NewTrace(), Closure: closure}
			}
			want, wantErr := objectsOf(r.run(fsys(), "."))
			if (wantErr != nil) != c.fails {
				t.Errorf("kustomize says %v", wantErr)
			}
			got, err := r.objects(fsys(), ".")
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(texts(got), texts(want)) {
				t.Errorf("error %v, want %v; objects:\n%.3000s\nwant\n%.3000s", err, wantErr, texts(got), texts(want))
			}

			without := schemas.Of(r.tree, closure).Build(nil)
			first := fsys()
			first.Serve = without.Serve
			built, err := objectsOf(r.run(first, "."))
			if err == nil {
				_, err = without.Restore(built)
			}
			if without.LeftOut() != c.left || c.left && (err != nil) != c.whole {
				t.Errorf("left out: %v, want %v; whole files are built after it for: %v, want one: %v", without.LeftOut(), c.left, err, c.whole)
			}
		})
	}
}

// TestOriginsWithoutSchemas compares the origins of fields with those in a build of the whole files.
func TestOriginsWithoutSchemas(t *testing.T) {
	for _, name := range []string{"plain", "merge patch", "versions", "copied version"} {
		t.Run(name, func(t *testing.T) { compareOrigins(t, schemaCases[name]) })
	}
}

// TestOriginsOfSchemas does the same for all fields of all cases whose schemas are left out.
func TestOriginsOfSchemas(t *testing.T) {
	for name, c := range schemaCases {
		if !c.left || c.whole || c.fails {
			continue
		}
		t.Run(name, func(t *testing.T) {
			objects, got, want := c.origins(t)
			for i, o := range objects {
				for path := range pathsOf(o.Content(), "") {
					for _, path := range []string{path, origin.AppendKey(path, "missing"), path + "[0]"} {
						if diff := cmp.Diff(want[i].Place(path, origin.Whole), got[i].Place(path, origin.Whole)); diff != "" {
							t.Fatalf("%s of object %d (-want +got):\n%s", path, i, diff)
						}
						if diff := cmp.Diff(want[i].Chain(path, origin.Whole), got[i].Chain(path, origin.Whole)); diff != "" {
							t.Fatalf("the chain of %s of object %d (-want +got):\n%s", path, i, diff)
						}
						if diff := cmp.Diff(want[i].Removals(path), got[i].Removals(path)); diff != "" {
							t.Fatalf("what was removed at %s of object %d (-want +got):\n%s", path, i, diff)
						}
					}
				}
			}
		})
	}
}

// pathsOf returns the paths of all fields of a value, but only some of many similar ones.
func pathsOf(value any, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		each := func(child any, path string) bool {
			if !yield(path) {
				return false
			}
			for path := range pathsOf(child, path) {
				if !yield(path) {
					return false
				}
			}
			return true
		}
		switch value := value.(type) {
		case map[string]any:
			for key, child := range value {
				if len(value) > 50 && !strings.HasSuffix(key, "77") {
					continue
				}
				if !each(child, origin.AppendKey(path, key)) {
					return
				}
			}
		case []any:
			for i, child := range value {
				if !each(child, fmt.Sprintf("%s[%d]", path, i)) {
					return
				}
			}
		}
	}
}

// origins returns the objects of a case, their origins, and those in a build of the whole files.
func (c schemaCase) origins(t *testing.T) (objects []*render.Object, got, want []*origin.Origin) {
	t.Helper()
	r := c.source()
	result := r.Render(t.Context(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "."}})
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	got, err := r.Origins(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	want, err = r.locateInWhole(result, r.walk(".", tree.NewTrace()))
	if err != nil {
		t.Fatal(err)
	}
	return result.Objects, got, want
}

func compareOrigins(t *testing.T, c schemaCase) {
	c.crd = definition("") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: after\ndata:\n  a: b\n"
	objects, got, want := c.origins(t)
	const inSchema = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[field7].type"
	found := map[string]int{}
	for i := range objects {
		if got[i].Document() != want[i].Document() {
			t.Errorf("object %d is at %v, want %v", i, got[i].Document(), want[i].Document())
		}
		for _, field := range []string{"metadata.name", "metadata.labels", "metadata.annotations[a]", "spec.scope", "spec.versions[0].storage", inSchema, "data.a"} {
			got, want := got[i].Place(field, origin.Whole), want[i].Place(field, origin.Whole)
			if got.Position != want.Position || got.Evidence != want.Evidence || got.Why != want.Why {
				t.Errorf("%s of object %d: %+v, want %+v", field, i, got, want)
			}
			if got.Found() && got.Path == "crd.yaml" {
				found[field] = got.Line
			}
		}
	}
	before, _, _ := strings.Cut(c.crd, "field7:")
	if at := strings.Count(before, "\n") + 3; !c.whole && found[inSchema] != at {
		t.Errorf("a field of the schema is on line %d, want %d", found[inSchema], at)
	}
	if at := strings.Count(c.crd, "\n"); found["data.a"] != at {
		t.Errorf("a field behind the schema is on line %d, want %d", found["data.a"], at)
	}
}
