package format_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

const schemaFile = "../../docs/report.schema.json"

// node has the keywords of JSON schema that the published schemas use.
type node struct {
	Ref                  string `json:"$ref"`
	Type, Description    string
	Const                string
	Enum, Required       []string
	Properties           map[string]*node
	Items                *node
	AdditionalProperties json.RawMessage
	Defs                 map[string]*node `json:"$defs"`
}

func schema(t *testing.T, file string) *node {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var n node
	if err := json.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	return &n
}

func TestReportsFitThePublishedSchema(t *testing.T) {
	s := compile(t, schemaFile)
	for _, name := range reports(t) {
		r := read(t, name)
		t.Run(name, func(t *testing.T) { validate(t, s, write(t, "json", r, zero)) })
	}
}

// TestSchemaIsTheGoTypes compares report.Report with the schema: they have the same fields
// and types, fields that Go always writes are required, and all have descriptions.
func TestSchemaIsTheGoTypes(t *testing.T) {
	schemaIsType(t, schemaFile, reflect.TypeFor[report.Report]())
}

func schemaIsType(t *testing.T, file string, typ reflect.Type) {
	t.Helper()
	root := schema(t, file)
	w := walker{t: t, root: root, seen: map[string]bool{}}
	w.structure("report", typ, root)
	for name := range root.Defs {
		if !w.seen[name] {
			t.Errorf("%s: $defs/%s describes nothing of the Go types", file, name)
		}
	}
}

type walker struct {
	t    *testing.T
	root *node
	seen map[string]bool
}

// resolve follows a reference and records it.
func (w walker) resolve(n *node) (resolved *node, first bool) {
	if n.Ref == "" {
		return n, true
	}
	name := strings.TrimPrefix(n.Ref, "#/$defs/")
	first = !w.seen[name]
	w.seen[name] = true
	if w.root.Defs[name] == nil {
		w.t.Fatalf("no $defs/%s", name)
	}
	return w.root.Defs[name], first
}

func (w walker) structure(at string, typ reflect.Type, n *node) {
	var names, required []string
	for i := range typ.NumField() {
		name, opts, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
		if opts != "omitempty" {
			required = append(required, name)
		}
		p := n.Properties[name]
		if p == nil {
			w.t.Errorf("%s.%s is not in the schema", at, name)
			continue
		}
		if p.Description == "" {
			w.t.Errorf("%s.%s has no description", at, name)
		}
		w.value(at+"."+name, typ.Field(i).Type, p)
	}
	for name := range n.Properties {
		if !slices.Contains(names, name) {
			w.t.Errorf("%s.%s is in the schema only", at, name)
		}
	}
	slices.Sort(required)
	slices.Sort(n.Required)
	if diff := cmp.Diff(required, n.Required); diff != "" {
		w.t.Errorf("%s: required fields (-Go +schema):\n%s", at, diff)
	}
	if string(n.AdditionalProperties) != "false" {
		w.t.Errorf("%s allows more properties", at)
	}
}

func (w walker) value(at string, typ reflect.Type, p *node) {
	n, first := w.resolve(p)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	want := map[reflect.Kind]string{
		reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array", reflect.Int: "integer",
		reflect.Float64: "number", reflect.Bool: "boolean", reflect.String: "string",
	}[typ.Kind()]
	enumerated := want == "string" && (n.Const != "" || len(n.Enum) > 0)
	if n.Type != want && !(enumerated && n.Type == "") {
		w.t.Errorf("%s is %q in the schema, want %q", at, n.Type, want)
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		if first {
			w.structure(at, typ, n)
		}
	case reflect.Slice:
		w.value(at+"[]", typ.Elem(), n.Items)
	case reflect.Map:
		if typ.Elem().Kind() == reflect.Interface || typ.Key().Name() == "string" {
			return // of any keys
		}
		w.resolve(&node{Ref: "#/$defs/" + strings.ToLower(typ.Key().Name())})
	case reflect.String:
		w.enumeration(at, typ, n)
	}
}

// enumeration compares the values of a named string type with the constants of that
// type in the source.
func (w walker) enumeration(at string, typ reflect.Type, n *node) {
	if typ.PkgPath() == "" {
		return
	}
	want := constants(w.t)[typ.Name()]
	if diff := cmp.Diff(want, n.Enum); diff != "" || len(want) == 0 {
		w.t.Errorf("%s: values of %s (-Go +schema):\n%s", at, typ.Name(), diff)
	}
}

// constants returns the typed string constants in the source of package report.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the source of package report is not found: %v", err)
	}
	out := map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				addConstants(out, spec)
			}
			return true
		})
	}
	return out
}

// addConstants adds the values of a declaration to those of its type.
func addConstants(out map[string][]string, spec *ast.ValueSpec) {
	name, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, value := range spec.Values {
		if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			out[name.Name] = append(out[name.Name], text)
		}
	}
}

// TestDocument checks docs/report.md: its example is a valid report, its text is the output
// for that report, and it explains every field with the description in the schema.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	example := block(t, doc, "json")
	validate(t, compile(t, schemaFile), []byte(example))
	r, err := report.Read(strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example, string(write(t, "json", r, zero))); diff != "" {
		t.Errorf("the example is not as preadmit writes it (-document +preadmit):\n%s", diff)
	}
	if diff := cmp.Diff(block(t, doc, "text"), string(write(t, "text", r, zero))); diff != "" {
		t.Errorf("the text of the example (-document +preadmit):\n%s", diff)
	}
	root := schema(t, schemaFile)
	explained(t, doc, "ScanReport", root)
	for name, def := range root.Defs {
		explained(t, doc, name, def)
	}
}

// block returns the first fenced block of a language.
func block(t *testing.T, doc, language string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)```\n").FindStringSubmatch(doc)
	if m == nil {
		t.Fatalf("no block of %s", language)
	}
	return m[1]
}

// explained reports the fields that a section of the document does not explain.
func explained(t *testing.T, doc, name string, n *node) {
	t.Helper()
	_, section, ok := strings.Cut(doc, "\n### "+name+"\n")
	if !ok {
		t.Errorf("no section on %s", name)
		return
	}
	section, _, _ = strings.Cut(section, "\n#")
	for field, p := range n.Properties {
		mark := "| `" + field + "` ?"
		if slices.Contains(n.Required, field) {
			mark = "| `" + field + "`"
		}
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(mark) + ` \| .* \| ` + regexp.QuoteMeta(p.Description) + ` \|$`)
		if !row.MatchString(section) {
			t.Errorf("section %s has no row %q with %q", name, mark, p.Description)
		}
	}
	for _, v := range n.Enum {
		if !strings.Contains(section, "`"+v+"`") {
			t.Errorf("section %s does not list %q", name, v)
		}
	}
}
