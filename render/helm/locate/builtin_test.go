package locate

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// TestManyAnnotations finds an annotation among thousands in Chart.yaml, which is parsed once.
func TestManyAnnotations(t *testing.T) {
	var file strings.Builder
	file.WriteString("apiVersion: v2\nname: app\nversion: 1.0.0\nannotations:\n")
	for i := range 5_000 {
		fmt.Fprintf(&file, "  a%d: \"text of the annotation\"\n", i)
	}
	r := newRelease(t, fstest.MapFS{
		"Chart.yaml":       {Data: []byte(file.String())},
		"templates/a.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Chart.Annotations.a7 }}}\n")},
	})
	r.Chart.Directories = chart.Directories{}
	r.Chart.Directories.Add(r.Chart.Chart, "app")
	rendered, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := cputime.Used()
	tracer := New(t.Context(), Traced{
		Release: r, Objects: rendered.Objects, Chart: rendered.Chart, Named: tree.Position{Path: "named.yaml"},
	})
	at := tracer.Place(0, "data.a", origin.Whole, "text of the annotation", true)
	if want := (tree.Position{Path: "app/Chart.yaml", Line: 12, Column: 7}); at.Position != want {
		t.Errorf("at %+v, want %+v", at.Position, want)
	}
	if spent := cputime.Used() - before; spent > 10*time.Second {
		t.Errorf("took %v of processor time", spent)
	}
}
