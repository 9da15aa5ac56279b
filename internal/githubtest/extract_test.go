package githubtest

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openapi/github.json is extracted from GitHub's description of its API, as published on npm:
//
//	npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
//	go test ./internal/githubtest -run TestOpenAPI -openapi package/generated/api.github.com.json
var from = flag.String("openapi", "", "make openapi/github.json anew, of the description in this file")

// described returns the operations of the server, by path.
func described() map[string][]string {
	out := map[string][]string{}
	for name := range operations() {
		method, path, _ := strings.Cut(name, " ")
		out[path] = append(out[path], strings.ToLower(method))
	}
	return out
}

// TestOpenAPI checks that the description has exactly our operations, completely.
func TestOpenAPI(t *testing.T) {
	if *from != "" {
		extract(t, *from)
	}
	doc := readJSON(t, "openapi/github.json")
	got := map[string][]string{}
	for path, item := range doc["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			got[path] = append(got[path], method)
		}
		slices.Sort(got[path])
	}
	want := described()
	for _, methods := range want {
		slices.Sort(methods)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	missing := map[string]bool{}
	walk(doc, func(ref string) {
		if lookUp(doc, ref) == nil {
			missing[ref] = true
		}
	})
	if len(missing) > 0 {
		t.Errorf("openapi/github.json lacks %v", slices.Sorted(maps.Keys(missing)))
	}
}

// extract writes openapi/github.json: our operations and everything they refer to, without
// prose and examples.
func extract(t *testing.T, file string) {
	t.Helper()
	all := readJSON(t, file)
	paths := map[string]any{}
	out := map[string]any{
		"openapi": all["openapi"], "paths": paths, "components": map[string]any{},
		"info": map[string]any{
			"title": "Operations of GitHub's REST API that preadmit uses", "version": "@octokit/openapi 23.0.2",
			"license": map[string]any{"name": "MIT"},
		},
	}
	for path, methods := range described() {
		item := map[string]any{}
		for _, m := range methods {
			item[m] = bare(all["paths"].(map[string]any)[path].(map[string]any)[m], "")
		}
		paths[path] = item
	}
	for {
		missing := map[string]bool{}
		walk(out, func(ref string) {
			if lookUp(out, ref) == nil {
				missing[ref] = true
			}
		})
		if len(missing) == 0 {
			break
		}
		for ref := range missing {
			put(out, ref, bare(lookUp(all, ref), ""))
		}
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("openapi/github.json", append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bare returns a copy without prose and examples. Below "properties" every key is a name.
func bare(v any, parent string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if parent == "properties" || !prose(key) {
				out[key] = bare(value, key)
			}
		}
		if isResponse(v) {
			out["description"] = v["description"] // responses must have one
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = bare(v[i], "")
		}
		return out
	}
	return v
}

// prose reports whether a key has text for people.
func prose(key string) bool {
	return slices.Contains([]string{"description", "example", "examples", "externalDocs", "summary", "tags"}, key) ||
		strings.HasPrefix(key, "x-")
}

// isResponse distinguishes responses from other objects with a description.
func isResponse(v map[string]any) bool {
	_, text := v["description"].(string)
	_, body := v["content"]
	_, headers := v["headers"]
	return text && (body || headers || len(v) == 1)
}

func walk(v any, visit func(ref string)) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			visit(ref)
		}
		for _, value := range v {
			walk(value, visit)
		}
	case []any:
		for _, value := range v {
			walk(value, visit)
		}
	}
}

// lookUp resolves a reference like #/components/schemas/x; it returns nil if it does not exist.
func lookUp(doc map[string]any, ref string) any {
	var at any = doc
	for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	return at
}

func put(doc map[string]any, ref string, v any) {
	keys := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	at := doc
	for _, key := range keys[:len(keys)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	at[keys[len(keys)-1]] = v
}

func readJSON(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
