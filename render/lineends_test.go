package render_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

// TestLineEnds checks that lines are those of the file, which end at a line feed alone, where YAML's parser counts more
// of them: in a comment and in a value.
func TestLineEnds(t *testing.T) {
	const object = "# a%[1]s\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  text: \"a%[1]sb\"\n  %[2]s: \"2\"\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {text: \"%[1]s%[1]s\", last: \"x\"}\n"
	for _, end := range []string{"", "\r#", "\u0085", "\u2028", "\u2029"} {
		base, patch := fmt.Sprintf(object, end, "own"), fmt.Sprintf(object, end, "patched")
		inline := "- patch: |\n    " + strings.ReplaceAll(strings.TrimSuffix(strings.Split(strings.ReplaceAll(patch, end, ""), "---\n")[0], "\n"), "\n", "\n    ")
		files := fstest.MapFS{
			"plain/cm.yaml":  {Data: []byte(base)},
			"app/cm.yaml":    {Data: []byte(base)},
			"app/patch.yaml": {Data: []byte(patch)},
			"app/kustomization.yaml": {Data: []byte("# c" + end + "\nresources: [cm.yaml]\npatches:\n- path: patch.yaml\n" +
				strings.ReplaceAll(inline, "patched", "inline") + "\n")},
		}
		r := sources.NewRenderer(files, render.Options{})
		found, err := r.Discover(t.Context())
		if err != nil || len(found.Roots) != 2 {
			t.Fatalf("%q: roots %v, error %v", end, found, err)
		}
		for _, root := range found.Roots {
			fields := map[string]string{"data.own": "plain/cm.yaml:8:8", "data.text": "plain/cm.yaml:7:9"}
			if root.Kind == render.KindKustomize {
				fields = map[string]string{
					"data.own": "app/cm.yaml:8:8", "data.text": "app/kustomization.yaml:12:13", "data.patched": "app/patch.yaml:8:12", "data.inline": "app/kustomization.yaml:13:15",
				}
			}
			result := r.Render(t.Context(), root)
			if result.Problem != nil || len(result.Objects) != 2 {
				t.Fatalf("%q: %d objects of %s, problem %v", end, len(result.Objects), root.Dir, result.Problem)
			}
			origins, err := r.Origins(t.Context(), result)
			if err != nil {
				t.Fatal(err)
			}
			for field, want := range fields {
				if at, _ := origins[0].Find(field); fmt.Sprintf("%s:%d:%d", at.Path, at.Line, at.Column) != want {
					t.Errorf("%q: %s of %s is at %s:%d:%d, want %s", end, field, root.Dir, at.Path, at.Line, at.Column, want)
				}
			}
			if at, _ := origins[1].Find("data.last"); at.Line != 13 || at.Column != 24+2*utf8.RuneCountInString(end) {
				t.Errorf("%q: the last field of %s is at %d:%d", end, root.Dir, at.Line, at.Column)
			}
		}
	}
}
