package locate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// judged matches the fields that a set of policies reads: images, replicas, resources, security contexts,
// labels, the namespaces of the host, types of Services and the size of volumes.
var judged = regexp.MustCompile(`(ontainers\[\d+\]\.(image|imagePullPolicy|resources\..*|securityContext\..*)|spec\.securityContext\..*|spec\.replicas|` +
	`metadata\.labels.*|\.host(Network|PID|IPC)|^spec\.type|resources\.requests\.storage)$`)

// installed returns the HelmReleases of the recorded repositories, with their values.
func installed(t *testing.T) (all []*release.Release) {
	sets, _ := filepath.Glob(filepath.Join(corpus, "..", "flux", "*", "expected", "units.json"))
	if len(sets) == 0 {
		t.Skipf("no recorded deployments beside %s", corpus)
	}
	capabilities, err := values.Capabilities("", nil)
	if err != nil {
		t.Fatal(err)
	}
	charts := map[string]*release.Chart{}
	for _, file := range sets {
		var units []struct {
			Kind, Namespace, Name string
			Chart                 struct{ File string }
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &units)
		}
		if err != nil {
			t.Fatal(err)
		}
		applied := appliedReleases(t, filepath.Dir(file))
		for _, u := range units {
			object := applied[u.Namespace+"/"+u.Name]
			if u.Kind != "HelmRelease" || object == nil || u.Chart.File == "" {
				continue
			}
			if charts[u.Chart.File] == nil {
				data, err := os.ReadFile(filepath.Join(corpus, "flux", u.Chart.File))
				if err != nil {
					continue
				}
				c, err := chart.FromArchive(data, chart.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				charts[u.Chart.File] = release.NewChart(c)
			}
			h, err := release.ParseHelmRelease(object)
			if err != nil {
				t.Fatal(err)
			}
			if user, err := h.Values(nil); err == nil {
				all = append(all, h.Release(charts[u.Chart.File], user, capabilities, true))
			}
		}
	}
	return all
}

// appliedReleases returns the HelmReleases that recorded Kustomizations apply.
func appliedReleases(t *testing.T, dir string) map[string]json.RawMessage {
	files, _ := filepath.Glob(filepath.Join(dir, "Kustomization__*.yaml"))
	all := map[string]json.RawMessage{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range bytes.Split(data, []byte("\n---\n")) {
			object, err := sigsyaml.YAMLToJSON(append(bytes.Clone(text), '\n'))
			if err != nil {
				t.Fatal(file, err)
			}
			var head struct {
				Kind     string
				Metadata struct{ Name, Namespace string }
			}
			if json.Unmarshal(object, &head) == nil && head.Kind == "HelmRelease" {
				all[head.Metadata.Namespace+"/"+head.Metadata.Name] = object
			}
		}
	}
	return all
}

// tally counts fields by what decides them and the places found.
type tally struct {
	// driven are the fields that a value of the repository decides, found those of them located on its line,
	// and proven those with exact evidence.
	fields, driven, found, proven, wrong, defaults int
	// kept are the fields that no value decides, in objects that a value enables, and placed those of them
	// located on its line.
	kept, placed int
	missed       []string
}

// TestValueLines measures on the HelmReleases of real repositories how many findings that a value of the
// repository decides are located on the line of such a value. Every field that the policies read counts as a
// finding. The deciding values are found independently of the code that finds lines: by changing or removing
// every value in turn and rendering the whole chart.
func TestValueLines(t *testing.T) {
	var sum tally
	releases := installed(t)
	if !everything() {
		releases = slices.DeleteFunc(releases, func(r *release.Release) bool {
			return len(r.Chart.Templates) > 50 || len(locate.LeavesOf(r.Values, nil)) > 40
		})
	}
	releases = sample(releases, 2)
	for _, r := range releases {
		sum.release(t, r)
	}
	t.Logf("%d releases, %d fields: %d decided by a value of the repository, %d (%.1f %%) on the line of one, %d of these exact; of the others %d by a value of the chart; %d on a line that decides nothing",
		len(releases), sum.fields, sum.driven, sum.found, 100*float64(sum.found)/float64(max(sum.driven, 1)), sum.proven, sum.defaults, sum.wrong)
	t.Logf("%d fields that no value decides are in objects that a value of the repository turns on, %d on the line of one", sum.kept, sum.placed)
	for _, m := range sum.missed {
		t.Log(m)
	}
	if sum.proven*100 < sum.driven*85 {
		t.Errorf("%d of %d fields that a value of the repository decides are proven to be on its line", sum.proven, sum.driven)
	}
	if sum.wrong > 0 {
		t.Errorf("%d fields are on the line of a value that does not decide them", sum.wrong)
	}
}

func (n *tally) release(t *testing.T, r *release.Release) {
	ctx := context.Background()
	rendered, err := r.Once(ctx)
	if err != nil {
		t.Logf("%s/%s does not render: %v", r.Namespace, r.Name, err)
		return
	}
	all := slices.Concat(rendered.Objects, rendered.Hooks)
	var leaves []*locate.Leaf
	tracer := locate.New(ctx, locate.Traced{
		Release: r, Objects: all, Name: "chart", Chart: rendered.Chart,
		Written: func(l *locate.Leaf) (origin.Place, bool) {
			if l.Default {
				return origin.Place{}, false
			}
			leaves = append(leaves, l)
			return origin.Place{Position: tree.Position{Path: "values", Line: len(leaves)}, Evidence: origin.Marked}, true
		},
	})
	was, err := r.Documents(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var variants []variant
	for _, l := range locate.LeavesOf(r.Values, nil) {
		variants = append(variants, variant{l, variantsOf(ctx, r, l)})
	}
	for i, o := range all {
		if o.Document == nil {
			continue
		}
		scalars(o.Document.Content(), "", func(field string, value any) {
			if !judged.MatchString(field) {
				return
			}
			n.fields++
			var deciding, keeping []*locate.Leaf
			for _, v := range variants {
				switch changes, gone := v.effect(o, was, field, value); {
				case changes:
					deciding = append(deciding, v.leaf)
				case gone:
					keeping = append(keeping, v.leaf)
				}
			}
			place := tracer.Place(i, field, origin.Whole, value, true)
			found := place.Path == "values"
			switch {
			case found && !slices.ContainsFunc(slices.Concat(deciding, keeping), func(l *locate.Leaf) bool { return reflect.DeepEqual(l.Path, leaves[place.Line-1].Path) }):
				n.wrong++
				n.missed = append(n.missed, fmt.Sprintf("wrong: %s/%s %s %s = %v: %v", r.Namespace, r.Name, o.File, field, value, leaves[place.Line-1].Path))
			case len(deciding) == 0 && len(keeping) > 0:
				n.kept++
				if found {
					n.placed++
				}
			case found:
				n.driven++
				n.found++
				if place.Evidence == origin.Marked {
					n.proven++
				}
			case len(deciding) > 0:
				n.driven++
				n.missed = append(n.missed, fmt.Sprintf("missed: %s/%s %s %s = %v: %v and %d more; %s", r.Namespace, r.Name, o.File, field, value, deciding[0].Path, len(deciding)-1, place.Why))
			case strings.Contains(place.Why, "(default)"):
				n.defaults++
			}
		})
	}
}

// variant is a chart's output with another value.
type variant struct {
	leaf      *locate.Leaf
	documents [][]*release.Document
}

// variantsOf returns the documents of a release in which a value is changed or removed.
func variantsOf(ctx context.Context, r *release.Release, l *locate.Leaf) (all [][]*release.Document) {
	for _, change := range []func(m map[string]any){
		func(m map[string]any) { setAt(m, l.Path, otherThan(l.Value)) },
		func(m map[string]any) { removeAt(m, l.Path) },
	} {
		user := chart.CopyValues(r.Values)
		change(user)
		other := *r
		other.Values = user
		if documents, err := other.Documents(ctx); err == nil {
			all = append(all, documents)
		}
	}
	return all
}

// effect reports whether the value changes a field of an object, and whether it removes the object.
func (v variant) effect(o *release.Object, was []*release.Document, field string, value any) (changes, gone bool) {
	for _, documents := range v.documents {
		d := again(o, was, documents)
		if d == nil {
			gone = gone || like(o, documents) < like(o, was)
			continue
		}
		now, found := origin.Field(d.Content(), field)
		changes = changes || !found || !reflect.DeepEqual(now, value)
	}
	return changes, gone
}

// like returns how many objects of the same kind the template of an object makes.
func like(o *release.Object, documents []*release.Document) (n int) {
	kind, _ := render.KindAndName(o.Document.Content())
	for _, d := range documents {
		if k, _ := render.KindAndName(d.Content()); d.File.Name == o.Document.File.Name && k == kind {
			n++
		}
	}
	return n
}

// again returns the document of an object in another rendering: the one at the same index of its template,
// which may have another name, else the one with its kind and name; nil if it does not exist.
func again(o *release.Object, was, documents []*release.Document) *release.Document {
	of := func(all []*release.Document) (in []*release.Document) {
		for _, d := range all {
			if d.File.Name == o.Document.File.Name {
				in = append(in, d)
			}
		}
		return in
	}
	before, after := of(was), of(documents)
	kind, name := render.KindAndName(o.Document.Content())
	if i := slices.IndexFunc(before, func(d *release.Document) bool { return d.Text == o.Document.Text }); i >= 0 && len(before) == len(after) {
		if k, _ := render.KindAndName(after[i].Content()); k == kind {
			return after[i]
		}
	}
	for _, d := range after {
		if k, n := render.KindAndName(d.Content()); k == kind && n == name {
			return d
		}
	}
	return nil
}

func otherThan(v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		return v + 1
	case string:
		return v + "x"
	}
	return "x"
}

// parentOf returns the parent of the value at a path.
func parentOf(m map[string]any, path []any) any {
	v, _ := chart.At(m, path[:len(path)-1])
	return v
}

func setAt(m map[string]any, path []any, value any) {
	switch last := path[len(path)-1].(type) {
	case string:
		parentOf(m, path).(map[string]any)[last] = value
	case int:
		parentOf(m, path).([]any)[last] = value
	}
}

func removeAt(m map[string]any, path []any) {
	if last, ok := path[len(path)-1].(string); ok {
		delete(parentOf(m, path).(map[string]any), last)
	}
}
