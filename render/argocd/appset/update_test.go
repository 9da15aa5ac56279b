package appset_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/argocd/appset"
)

// TestUpdate checks what an Application is after its ApplicationSet was applied to the one that is there.
func TestUpdate(t *testing.T) {
	const was = "metadata: {name: a}\nspec: {source: {path: a, targetRevision: one}, sources: [{path: a}], syncPolicy: {automated: {prune: true}}}"
	const now = "metadata: {name: a, annotations: {b/c: d}}\nspec: {source: {path: b, targetRevision: two}, sources: [{path: b}]}"
	for _, test := range []struct{ spec, want, note, unknown string }{
		{"{}", now, "", ""},
		{"{syncPolicy: {applicationsSync: create-only}}", was, "stays as it was", ""},
		{"{syncPolicy: {applicationsSync: create-update}}", now, "", ""},
		{"{ignoreApplicationDifferences: [{jsonPointers: [/spec/source/targetRevision]}]}", strings.Replace(now, "two", "one", 1), "keeps spec.source.targetRevision", ""},
		{"{ignoreApplicationDifferences: [{jqPathExpressions: [.spec.source.targetRevision]}]}", strings.Replace(now, "two", "one", 1), "keeps spec.source.targetRevision", ""},
		{"{ignoreApplicationDifferences: [{name: b, jsonPointers: [/spec]}]}", now, "", ""},
		{"{ignoreApplicationDifferences: [{name: a, jsonPointers: [/spec]}]}", strings.Replace(was, "name: a", "name: a, annotations: {b/c: d}", 1), "keeps spec", ""},
		{"{ignoreApplicationDifferences: [{jsonPointers: [/spec/syncPolicy/automated/prune]}]}", strings.Replace(now, "b}]", "b}], syncPolicy: {automated: {prune: true}}", 1), "keeps spec.syncPolicy.automated.prune", ""},
		{"{ignoreApplicationDifferences: [{jsonPointers: [/metadata/annotations/b~1c, /metadata/labels/x]}]}", strings.Replace(now, ", annotations: {b/c: d}", ", annotations: {}", 1), "keeps metadata.annotations.b/c", ""},
		{"{ignoreApplicationDifferences: [{jsonPointers: [/spec/sources/0/path]}]}", now, "", "which of its fields stay"},
		{"{ignoreApplicationDifferences: [{jqPathExpressions: ['.spec | select(.x) | .source.path']}]}", now, "", "which of its fields stay"},
		{"{ignoreApplicationDifferences: [{jqPathExpressions: ['.spec | select(.x) | .project']}]}", now, "", ""},
		{"{ignoreApplicationDifferences: [{jqPathExpressions: ['.spec[']}]}", now, "", "does not update it"},
	} {
		got := appset.Update(encoded(t, "spec: "+test.spec), encoded(t, now), func() json.RawMessage { return encoded(t, was) })
		if string(got.Object) != string(encoded(t, test.want)) || !strings.HasPrefix(got.Note, test.note) || (got.Note == "") != (test.note == "") ||
			!strings.Contains(got.Unknown, test.unknown) || (got.Unknown == "") != (test.unknown == "") {
			t.Errorf("%s: %s, note %q, unknown %q, want %s, %q, %q", test.spec, got.Object, got.Note, got.Unknown, test.want, test.note, test.unknown)
		}
		if fresh := appset.Update(encoded(t, "spec: "+test.spec), encoded(t, now), func() json.RawMessage { return nil }); string(fresh.Object) != string(encoded(t, now)) || fresh.Note+fresh.Unknown != "" {
			t.Errorf("%s: %+v for a new Application", test.spec, fresh)
		}
	}
}

// encoded returns YAML as JSON.
func encoded(t *testing.T, text string) json.RawMessage {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
