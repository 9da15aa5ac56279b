package values

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Violations are the errors that schemas report for values.
type Violations struct {
	// Invalid is Helm's message about values that violate a schema; empty if there are none.
	Invalid string
	// Unchecked are messages about charts whose values were not checked: their schemas refer to documents that
	// are not in the chart.
	Unchecked []string

	schemas *Schemas
}

// Schemas caches compiled schemas. It is safe for concurrent use.
type Schemas struct {
	mu       sync.Mutex
	compiled map[string]func() (*jsonschema.Schema, error)
}

// NewSchemas returns empty Schemas.
func NewSchemas() *Schemas {
	return &Schemas{compiled: map[string]func() (*jsonschema.Schema, error){}}
}

// Check checks values against the schemas of a chart and its dependencies. It reads nothing outside of the
// schemas.
func (s *Schemas) Check(c *chart.Chart, values map[string]any) Violations {
	v := Violations{schemas: s}
	v.check(c, values)
	if v.Invalid != "" {
		v.Invalid = "values don't meet the specifications of the schema(s) in the following chart(s):\n" + v.Invalid
	}
	return v
}

func (v *Violations) check(c *chart.Chart, values map[string]any) {
	if c.Schema != nil {
		v.against(c, values)
	}
	for _, dependency := range c.Dependencies() {
		switch sub := values[dependency.Name()].(type) {
		case nil:
		case map[string]any:
			v.check(dependency, sub)
		default:
			v.Invalid += fmt.Sprintf("%s:\ninvalid type for values: expected object (map), got %T\n", dependency.Name(), sub)
		}
	}
}

// schemaURL is Helm's URL of the schema, which appears in messages.
const schemaURL = "file:///values.schema.json"

func (v *Violations) against(c *chart.Chart, values map[string]any) {
	err := v.schemas.validate(c.Schema, values)
	var outside *jsonschema.LoadURLError
	switch {
	case err == nil:
	case errors.As(err, &outside):
		v.Unchecked = append(v.Unchecked, fmt.Sprintf("%s: its values.schema.json refers to %s, which is not in the chart", c.Name(), referred(c.Schema, outside.URL)))
	default:
		text := strings.TrimPrefix(err.Error(), "jsonschema validation failed with '"+schemaURL+"#'\n")
		v.Invalid += c.Name() + ":\n" + text + "\n"
	}
}

// referred returns the first, in sorted order, of the external documents that a schema refers to, given any of
// them: the library's choice differs each time.
func referred(text []byte, one string) string {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	base, baseErr := url.Parse(schemaURL)
	if err != nil || baseErr != nil {
		return one
	}
	if top, ok := schema.(map[string]any); ok {
		if id, ok := top["$id"].(string); ok {
			if to, err := base.Parse(id); err == nil {
				base = to
			}
		}
	}
	var all []string
	for _, reference := range references(schema) {
		if to, err := base.Parse(reference); err == nil {
			to.Fragment = ""
			all = append(all, to.String())
		}
	}
	base.Fragment = ""
	if !slices.Contains(all, one) || one == base.String() { // a part of the schema has its own base, or its draft has no $id
		return one
	}
	return slices.Min(slices.DeleteFunc(all, func(name string) bool { return name == base.String() }))
}

// references returns the references in a schema, as written.
func references(schema any) (all []string) {
	switch v := schema.(type) {
	case []any:
		for _, item := range v {
			all = append(all, references(item)...)
		}
	case map[string]any:
		if to, ok := v["$ref"].(string); ok {
			all = append(all, to)
		}
		for _, item := range v {
			all = append(all, references(item)...)
		}
	}
	return all
}

func (s *Schemas) validate(text []byte, values map[string]any) (err error) {
	defer recovered(&err)
	s.mu.Lock()
	once, ok := s.compiled[string(text)]
	if !ok {
		once = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(text) })
		s.compiled[string(text)] = once
	}
	s.mu.Unlock()
	compiled, err := once()
	if err != nil {
		return err
	}
	return compiled.Validate(values)
}

func compile(text []byte) (compiled *jsonschema.Schema, err error) {
	defer recovered(&err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nothing{})
	if err := compiler.AddResource(schemaURL, schema); err != nil {
		return nil, err
	}
	return compiler.Compile(schemaURL)
}

// recovered converts a panic to an error.
func recovered(err *error) {
	if failure := recover(); failure != nil {
		*err = fmt.Errorf("unable to validate schema: %v", failure)
	}
}

// nothing is a loader of schemas that always fails.
type nothing struct{}

func (nothing) Load(string) (any, error) { return nil, errors.New("it is not in the chart") }
