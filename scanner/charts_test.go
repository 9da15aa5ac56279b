package scanner

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
)

// TestChartVersions checks which charts of an Application have a new version: sources may have
// charts of one name from several repositories, and one chart several times.
func TestChartVersions(t *testing.T) {
	for name, test := range map[string]struct {
		was, is []string // URL, name and version
		object  string
		want    []chartVersion
	}{
		"one": {
			[]string{"a", "redis", "1"}, []string{"a", "redis", "2"}, `{"spec":{"source":{}}}`,
			[]chartVersion{{"redis", "1", "2", "spec.source.targetRevision"}},
		},
		"one of a list": {
			[]string{"a", "redis", "1"}, []string{"a", "redis", "2"}, `{"spec":{"sources":[{}]}}`,
			[]chartVersion{{"redis", "1", "2", "spec.sources[0].targetRevision"}},
		},
		"two repositories": {
			[]string{"a", "redis", "1", "b", "redis", "7"}, []string{"a", "redis", "2", "b", "redis", "7"}, `{"spec":{"sources":[{},{}]}}`,
			[]chartVersion{{"redis", "1", "2", "spec.sources[0].targetRevision"}},
		},
		"twice, the first goes": {
			[]string{"a", "redis", "1", "a", "redis", "7"}, []string{"a", "redis", "7"}, `{"spec":{"sources":[{}]}}`, nil,
		},
		"twice, both are new": {
			[]string{"a", "redis", "1", "a", "redis", "7"}, []string{"a", "redis", "2", "a", "redis", "8"}, `{"spec":{"sources":[{},{}]}}`,
			[]chartVersion{{"redis", "1", "2", "spec.sources[0].targetRevision"}, {"redis", "7", "8", "spec.sources[1].targetRevision"}},
		},
		"another repository": {
			[]string{"a", "redis", "1"}, []string{"b", "redis", "2"}, `{"spec":{"source":{}}}`,
			[]chartVersion{{"redis", "1", "2", "spec.source.targetRevision"}},
		},
		"added": {
			[]string{"a", "redis", "1"}, []string{"b", "redis", "2", "a", "redis", "1"}, `{"spec":{"sources":[{},{}]}}`, nil,
		},
	} {
		rendered := func(charts []string) *change.Rendered {
			app := &render.Application{}
			for c := range slices.Chunk(charts, 3) {
				app.Sources = append(app.Sources, render.ApplicationSource{Artifact: &render.Artifact{Kind: render.ArtifactChart, URL: c[0], Name: c[1], Version: c[2]}})
			}
			return &change.Rendered{Result: &render.Result{Root: render.Root{Unit: &render.Unit{Application: app, Object: json.RawMessage(test.object)}}}}
		}
		if got := chartVersions(rendered(test.was), rendered(test.is)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
