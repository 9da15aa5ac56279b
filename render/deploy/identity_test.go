package deploy_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/render"
)

// TestIdentity holds that what has an identity renders to the same for all versions of Kubernetes, that
// its identity is the same, and that Applications without charts have one.
func TestIdentity(t *testing.T) {
	named, charts := 0, 0
	for _, name := range applications(t) {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for _, f := range archive.Files {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		older, newer := identities(t, files, "v1.33.0"), identities(t, files, "v1.36.0")
		for root, is := range older {
			switch other, ok := newer[root]; {
			case is.identity == "":
				charts++
			case !ok, is != other:
				t.Errorf("%s of %s: %+v in one version, %+v in another", root, name, is, other)
			default:
				named++
			}
		}
	}
	if named < 15 || charts < 5 {
		t.Errorf("only %d have an identity and %d have none", named, charts)
	}
}

// identified is the identity of a root, and what it renders to.
type identified struct{ identity, objects string }

func identities(t *testing.T, files fstest.MapFS, version string) map[render.RootID]identified {
	t.Helper()
	r, graph := expanded(t, files, version)
	all := map[render.RootID]identified{}
	for _, root := range graph.Units {
		var objects strings.Builder
		result := r.Render(t.Context(), root)
		for _, o := range result.Objects {
			objects.Write(o.JSON)
		}
		if result.Problem == nil {
			all[root.RootID] = identified{r.Identity(root), objects.String()}
		}
	}
	return all
}
