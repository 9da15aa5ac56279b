package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/webhooks"
)

// schema is as much of a JSON Schema as is looked at here.
type schema struct {
	Properties map[string]*schema
	Items      *schema
	// AdditionalProperties is false for what has only the properties named.
	AdditionalProperties any
}

// leaves lists the paths of what has no properties, and what is open to other ones.
func (s *schema) leaves(path string, into *[]string) {
	if s.Properties == nil {
		*into = append(*into, path)
		return
	}
	if s.AdditionalProperties != false {
		*into = append(*into, path+": open")
	}
	for name, property := range s.Properties {
		property.leaves(strings.TrimPrefix(path+"."+name, "."), into)
	}
}

func chartSchema(t *testing.T) *schema {
	t.Helper()
	data, err := os.ReadFile("chart/preadmit/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &schema{}
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaKnowsAllSettings: the chart takes exactly the settings that the service's file
// may have, so no secrets.
func TestSchemaKnowsAllSettings(t *testing.T) {
	want := []string{"api.tokens"} // in the file only
	for _, s := range webhooks.Settings(&webhooks.Config{}) {
		if s.Flag != "" {
			want = append(want, s.Key)
		}
	}
	var got []string
	config := chartSchema(t).Properties["config"]
	if config == nil {
		t.Fatal("the schema has no config")
	}
	config.leaves("", &got)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings in values.schema.json (-service +schema):\n%s", diff)
	}
}

// TestSchemaIsStrict: what is not among the values is refused, but for what other charts
// are told (global), and what Kubernetes has the names for.
func TestSchemaIsStrict(t *testing.T) {
	var all, open []string
	chartSchema(t).leaves("", &all)
	for _, path := range all {
		if strings.HasSuffix(path, ": open") {
			open = append(open, path)
		}
	}
	if diff := cmp.Diff([]string{"resources.limits: open"}, open); diff != "" {
		t.Errorf("open to any property (-named +found):\n%s", diff)
	}
}

// TestChartREADME: its table of values has each value once, and its default.
func TestChartREADME(t *testing.T) {
	data, err := os.ReadFile("chart/preadmit/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	var want []string
	documented("", values, &want)
	readme, err := os.ReadFile("chart/preadmit/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(readme), -1) {
		got = append(got, row[1]+" = "+strings.Trim(row[2], "`"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values in README.md (-values.yaml +README.md):\n%s", diff)
	}
}

// documented lists values with their defaults: scalars as they are, others as "see
// values.yaml". The configuration is documented elsewhere, so of it only what the chart
// sets.
func documented(path string, value any, into *[]string) {
	fields, ok := value.(map[string]any)
	switch {
	case ok && len(fields) > 0 && path != "resources.requests" && path != "resources.limits":
		for name, field := range fields {
			documented(strings.TrimPrefix(path+"."+name, "."), field, into)
		}
		return
	case ok && len(fields) > 0:
		value = "see values.yaml"
	}
	text, _ := json.Marshal(value)
	shown := strings.Trim(string(text), `"`)
	if list, ok := value.([]any); ok && len(list) > 0 {
		shown = "see values.yaml"
	}
	*into = append(*into, path+" = "+shown)
}
