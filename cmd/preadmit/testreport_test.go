package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/suite"
)

var suiteSchema = filepath.Join("..", "..", "docs", "suite.schema.json")

// TestSuiteSchemaFields checks that the published schema agrees with the structs.
func TestSuiteSchemaFields(t *testing.T) {
	type definition struct {
		Properties map[string]any
	}
	var schema struct {
		definition
		Defs map[string]definition `json:"$defs"`
	}
	data, err := os.ReadFile(suiteSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	types := map[string]reflect.Type{
		"result": reflect.TypeFor[report.SuiteResult](), "policyError": reflect.TypeFor[report.PolicyError](),
		"verdict": reflect.TypeFor[report.SuiteVerdict](), "failure": reflect.TypeFor[report.SuiteFailure](),
		"difference": reflect.TypeFor[report.Difference](), "explanation": reflect.TypeFor[report.Explanation](),
		"value": reflect.TypeFor[report.Value](), "summary": reflect.TypeFor[report.SuiteSummary](),
		"request": reflect.TypeFor[suite.Request](), "user": reflect.TypeFor[suite.User](),
		"expected": reflect.TypeFor[suite.Expected](),
	}
	compareFields(t, "the report", reflect.TypeFor[report.SuiteReport](), schema.Properties)
	for name, d := range schema.Defs {
		if name == "requests" {
			continue // unexported; TestSuiteFilesFitTheSchema checks it
		}
		if types[name] == nil {
			t.Errorf("$defs/%s describes nothing of the Go types", name)
			continue
		}
		compareFields(t, name, types[name], d.Properties)
		delete(types, name)
	}
	for name := range types {
		t.Errorf("$defs/%s is missing", name)
	}
}

func compareFields(t *testing.T, what string, of reflect.Type, properties map[string]any) {
	t.Helper()
	var want, got []string
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			want = append(want, name)
		}
	}
	for name := range properties {
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-struct +schema):\n%s", what, diff)
	}
}

// conformance are the suites recorded from an API server.
const conformance = "../../scanner/suite/testdata/conformance"

func testOutput(t *testing.T, want int, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), append([]string{"test"}, args...), cli.Process{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
	})
	if code != want {
		t.Fatalf("preadmit test %q: exit code %d, want %d\n%s", args, code, want, &stderr)
	}
	return stdout.Bytes()
}

// TestJSONFitsTheSchema runs suites that agree and that fail.
func TestJSONFitsTheSchema(t *testing.T) {
	recorded, err := filepath.Glob(conformance + "/*")
	if err != nil || len(recorded) == 0 {
		t.Fatalf("%d recorded suites, %v", len(recorded), err)
	}
	args := append(testall.Sample(recorded, 12), "--format", "json")
	schema := compileDefinition(t, "")
	check(t, schema, testOutput(t, cli.ExitClean, args...))
	check(t, schema, testOutput(t, cli.ExitFindings, "../../examples", "--format", "json"))
}

// TestJSONIsTheRecord: the verdicts in the JSON equal those of expected.yaml, field by
// field, if the server has only one possible answer.
func TestJSONIsTheRecord(t *testing.T) {
	dir := filepath.Join(conformance, "typed-defaults-workloads")
	var report struct{ Suites []map[string]any }
	if err := json.Unmarshal(testOutput(t, cli.ExitClean, dir, "--format", "json"), &report); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, suite.ExpectedFile))
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string]any
	if err := yaml.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recorded["verdicts"], report.Suites[0]["verdicts"]); diff != "" {
		t.Errorf("(-recorded +JSON):\n%s", diff)
	}
}

// TestSuiteFilesFitTheSchema checks the files of suites against the schema for editors.
func TestSuiteFilesFitTheSchema(t *testing.T) {
	requests, expected := compileDefinition(t, "#/$defs/requests"), compileDefinition(t, "#/$defs/expected")
	for _, pattern := range []string{conformance + "/*", "../../examples/suite*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil || len(dirs) == 0 {
			t.Fatalf("%s: %v, %d suites", pattern, err, len(dirs))
		}
		for _, dir := range dirs {
			for name, schema := range map[string]*jsonschema.Schema{suite.RequestsFile: requests, suite.ExpectedFile: expected} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil {
					data, err = yaml.YAMLToJSON(data)
				}
				if err != nil {
					t.Fatal(err)
				}
				check(t, schema, data)
			}
		}
	}
}

func compileDefinition(t *testing.T, fragment string) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(suiteSchema + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func check(t *testing.T, schema *jsonschema.Schema, data []byte) {
	t.Helper()
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(instance); err != nil {
		t.Error(err)
	}
}

// junitShape has the elements that readers of JUnit support, with their content and their
// required and optional attributes.
func junitShape() map[string]struct{ children, required, optional string } {
	return map[string]struct{ children, required, optional string }{
		"":           {"testsuites", "", ""},
		"testsuites": {"testsuite", "", "name tests failures errors"},
		"testsuite":  {"testcase", "name tests failures errors skipped", ""},
		"testcase":   {"skipped failure", "name classname", ""},
		"skipped":    {"", "message", ""},
		"failure":    {"", "message type", ""},
	}
}

// TestJUnitShape checks the XML against junitShape, and the counts against the elements.
func TestJUnitShape(t *testing.T) {
	dirs := []string{"../../examples", conformance + "/actions-each", "testdata/suite"}
	decoder := xml.NewDecoder(bytes.NewReader(testOutput(t, cli.ExitFindings, append(dirs, "--format", "junit")...)))
	counts, claimed := map[string]int{}, map[string]int{}
	stack := []string{""}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.StartElement:
			given := checkElement(t, stack[len(stack)-1], e)
			counts[e.Name.Local]++
			stack = append(stack, e.Name.Local)
			if e.Name.Local == "testsuite" {
				claimed["testcase"] += number(t, given["tests"])
				claimed["failure"] += number(t, given["failures"])
				claimed["skipped"] += number(t, given["skipped"])
			}
		}
	}
	for element, n := range claimed {
		if counts[element] != n || n == 0 {
			t.Errorf("the attributes claim %d <%s>, there are %d; want as many, and some", n, element, counts[element])
		}
	}
}

// checkElement returns the attributes of an element.
func checkElement(t *testing.T, parent string, e xml.StartElement) map[string]string {
	t.Helper()
	name, shape := e.Name.Local, junitShape()
	if !slices.Contains(strings.Fields(shape[parent].children), name) {
		t.Errorf("<%s> inside of <%s>", name, parent)
	}
	allowed := strings.Fields(shape[name].required + " " + shape[name].optional)
	given := map[string]string{}
	for _, a := range e.Attr {
		given[a.Name.Local] = a.Value
		if !slices.Contains(allowed, a.Name.Local) {
			t.Errorf("<%s> has attribute %s", name, a.Name.Local)
		}
	}
	for _, a := range strings.Fields(shape[name].required) {
		if _, ok := given[a]; !ok {
			t.Errorf("<%s> has no attribute %s", name, a)
		}
	}
	return given
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Error(err)
	}
	return n
}
