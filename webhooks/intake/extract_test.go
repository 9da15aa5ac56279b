package intake

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	update   = flag.Bool("update", false, "write golden files anew")
	examples = flag.String("examples", "", "make testdata/examples.json.gz anew, of this file; see testdata/README.md")
	webhooks = flag.String("webhooks", "", "make testdata/schemas.json.gz anew, of this file; see testdata/README.md")
)

// handled returns the payloads that can lead to jobs, by their names in GitHub's description.
func handled() []string {
	return strings.Fields(`
		pull-request-opened pull-request-synchronize pull-request-reopened pull-request-ready-for-review
		pull-request-edited pull-request-closed pull-request-converted-to-draft
		check-run-rerequested check-run-requested-action check-suite-rerequested
		merge-group-checks-requested merge-group-destroyed push issue-comment-created
		installation-created installation-deleted installation-suspend installation-unsuspend
		installation-new-permissions-accepted installation-repositories-added installation-repositories-removed`)
}

// TestExtracts extracts the test data again when requested, and checks that it is complete.
func TestExtracts(t *testing.T) {
	t.Parallel()
	if *examples != "" {
		writeZipped(t, "testdata/examples.json.gz", readAny(t, *examples))
	}
	if *webhooks != "" {
		writeZipped(t, "testdata/schemas.json.gz", extractSchemas(readAny(t, *webhooks).(map[string]any)))
	}
	for _, name := range handled() {
		schemaOf(t, name)
	}
	if len(readExamples(t)) < 60 {
		t.Error("there are few examples")
	}
}

// extractSchemas returns the schemas of handled payloads and those that they refer to, without
// prose.
func extractSchemas(doc map[string]any) any {
	all := doc["components"].(map[string]any)["schemas"].(map[string]any)
	kept, events := map[string]any{}, map[string]any{}
	var keep func(v any) any
	keep = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = keep(v[i])
			}
		case map[string]any:
			for _, prose := range []string{"description", "title", "example"} {
				if _, ok := v[prose].(string); ok {
					delete(v, prose)
				}
			}
			ref, _ := v["$ref"].(string)
			name, isSchema := strings.CutPrefix(ref, "#/components/schemas/")
			if _, have := kept[name]; isSchema && !have {
				kept[name] = true // before its references: schemas are recursive
				kept[name] = keep(all[name])
			}
			for key := range v {
				v[key] = keep(v[key])
			}
		}
		return v
	}
	for _, name := range handled() {
		content := doc["webhooks"].(map[string]any)[name].(map[string]any)["post"].(map[string]any)["requestBody"].(map[string]any)["content"]
		events[name] = keep(content.(map[string]any)["application/json"].(map[string]any)["schema"])
	}
	return map[string]any{"events": events, "components": map[string]any{"schemas": kept}}
}

// schemaOf returns the schema of a payload, like "pull-request-opened".
func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(unzip(t, "testdata/schemas.json.gz")))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schemas.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schemas.json#/events/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// example is a payload from the examples in GitHub's description.
type example struct {
	event string
	// number counts an event's examples.
	number  int
	payload map[string]any
}

func readExamples(t *testing.T) []example {
	t.Helper()
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.Unmarshal(unzip(t, "testdata/examples.json.gz"), &events); err != nil {
		t.Fatal(err)
	}
	var all []example
	for _, event := range events {
		for i, text := range event.Examples {
			all = append(all, example{event.Name, i, decodeExact(t, text).(map[string]any)})
		}
	}
	return all
}

// decodeExact keeps the notation of numbers.
func decodeExact(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func readAny(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return decodeExact(t, text)
}

func unzip(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeZipped(t *testing.T, file string, v any) {
	t.Helper()
	text := encode(t, v)
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(file, out.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
