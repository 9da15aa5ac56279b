package locate_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// corpus is the directory of real charts, beside the repository; PREADMIT_CHARTS names another one.
const corpus = "../../../../shared/deployments/charts"

func archives(t *testing.T) []string {
	dir := corpus
	if given := os.Getenv("PREADMIT_CHARTS"); given != "" {
		dir = given
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*", "*.tgz"))
	if len(found) == 0 {
		t.Skipf("no chart archives in %s", dir)
	}
	return sample(found, 20)
}

// everything reports whether all charts and releases are tested, which takes minutes.
func everything() bool { return os.Getenv("PREADMIT_PROVENANCE") == "all" }

// sample returns some items of a list, evenly distributed, or everything.
func sample[T any](all []T, few int) []T {
	if everything() || len(all) <= few {
		return all
	}
	some := make([]T, few)
	for i := range some {
		some[i] = all[i*len(all)/few]
	}
	return some
}

// released is a chart with its default values, as if all of it were in the tree.
type released struct {
	chart   *helmchart.Chart
	release *release.Release
	objects []*release.Object
	tracer  *locate.Tracer
}

func fileOf(c *helmchart.Chart, name string) string {
	for _, f := range c.Raw {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// releaseOf renders a chart with its default values; nil when it requires others.
func releaseOf(t *testing.T, c *helmchart.Chart) *released {
	t.Helper()
	capabilities, err := values.Capabilities("", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &release.Release{
		Chart: release.NewChart(c), Values: map[string]any{}, Capabilities: capabilities, Template: true,
		Release: values.Release{Name: "app", Namespace: "shop"},
	}
	r.Chart.Directories.Add(c, c.Name())
	rendered, err := r.Once(context.Background())
	if err != nil {
		return nil
	}
	out := &released{chart: c, release: r, objects: slices.Concat(rendered.CRDs, rendered.Objects, rendered.Hooks)}
	out.tracer = locate.New(context.Background(), locate.Traced{
		Release: r, Objects: out.objects, Name: "chart",
		Chart: rendered.Chart,
		Written: func(l *locate.Leaf) (origin.Place, bool) {
			line, column := l.LineIn([]byte(fileOf(c, "values.yaml")))
			return origin.Place{Position: tree.Position{Path: "values.yaml", Line: line, Column: column}, Evidence: origin.Marked}, line > 0
		},
	})
	return out
}

// scalars visits the scalars of an object.
func scalars(v any, field string, visit func(field string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // the budget for trials is shared
			scalars(v[key], origin.AppendKey(field, key), visit)
		}
	case []any:
		for i, inner := range v {
			scalars(inner, field+"["+strconv.Itoa(i)+"]", visit)
		}
	case nil:
	default:
		visit(field, v)
	}
}

// TestProvenance measures on real charts how many scalars have a template line, whether literal lines contain
// the value, and whether lines of values that are reported as exact decide, by changing the line of
// values.yaml and rendering the whole chart.
func TestProvenance(t *testing.T) {
	var all, traced, literal, decided, exact, confirmed, charts int
	for _, file := range archives(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := chart.FromArchive(data, chart.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		r := releaseOf(t, c)
		if r == nil || !everything() && (charts == 2 || len(r.objects) > 30) {
			continue
		}
		charts++
		claims := map[tree.Position][]claim{}
		for i, o := range r.objects {
			if o.Document == nil {
				continue
			}
			scalars(o.Document.Content(), "", func(field string, value any) {
				all++
				place := r.tracer.Place(i, field, origin.Whole, value, true)
				switch {
				case path.Base(place.Path) == "values.yaml", path.Base(place.Path) == "Chart.yaml":
					decided++
					traced++
					if place.Evidence == origin.Marked {
						exact++
						claims[place.Position] = append(claims[place.Position], claim{i, field, value})
					}
				case place.Line > 0:
					traced++
					if place.Evidence == origin.Marked {
						literal++
						if !says(fileOf(c, strings.SplitN(place.Path, "/", 2)[1]), place.Line, value) {
							t.Errorf("%s: %s of %s is %v, and %s does not say that", filepath.Base(file), field, o.File, value, place.Position)
						}
					}
				}
			})
		}
		confirmed += r.confirm(t, filepath.Base(file), claims)
	}
	if charts == 0 {
		t.Error("no chart was looked at")
	}
	t.Logf("%d charts: %d scalars, %d (%.2f %%) with a line, %d on literal lines, %d on lines of values, %d of these exact, %d of the exact ones tried and confirmed", charts, all, traced, 100*float64(traced)/float64(max(all, 1)), literal, decided, exact, confirmed)
	if traced*100 < all*99 {
		t.Errorf("%d of %d scalars have a line", traced, all)
	}
}

// claim is a field that a line of values is reported to decide.
type claim struct {
	object int
	field  string
	value  any
}

// says reports whether a line of a template, or the text block that begins there, contains a value.
func says(text string, line int, value any) bool {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return false
	}
	if number, ok := value.(int64); ok && strings.Contains(lines[line-1], "0"+strconv.FormatInt(number, 8)) {
		return true // in octal digits
	}
	words := strings.Fields(locate.Text(value))
	said := strings.NewReplacer("''", "'", `\"`, `"`).Replace(strings.Join(lines[line-1:min(len(lines), line+3)], "\n")) // with quoting removed
	return len(words) == 0 || strings.Contains(said, strings.Trim(words[0], `"'`)) || strings.Contains(strings.Join(lines[line-1:min(len(lines), line+3)], "\n"), strings.Trim(words[0], `"'`))
}

// confirm changes each line in the text of values.yaml, renders the whole chart, and counts the fields that
// change.
func (r *released) confirm(t *testing.T, name string, claims map[tree.Position][]claim) (confirmed int) {
	t.Helper()
	for _, p := range sample(slices.SortedFunc(maps.Keys(claims), tree.ComparePositions), 6) {
		left, why := claims[p], error(nil)
		for again, err := range r.changedAt(p) {
			if err != nil {
				why = err
				continue
			}
			if left = slices.DeleteFunc(slices.Clone(left), func(c claim) bool { return r.differs(again, c) }); len(left) == 0 {
				break
			}
		}
		confirmed += len(claims[p]) - len(left)
		for _, c := range left {
			t.Errorf("%s: %s of %s stays %v with other texts at %s: %v", name, c.field, r.objects[c.object].File, c.value, p, why)
		}
	}
	return confirmed
}

// changedAt renders the whole chart with several texts at a position, in turn; it yields an error if the chart
// does not accept one.
func (r *released) changedAt(p tree.Position) iter.Seq2[*release.Rendered, error] {
	return func(yield func(*release.Rendered, error) bool) {
		for change := range changes {
			changed := chart.Copy(r.chart)
			of := changed
			for rest := strings.TrimPrefix(p.Path, r.chart.Name()+"/"); strings.HasPrefix(rest, "charts/") && of != nil; {
				dir, file, _ := strings.Cut(strings.TrimPrefix(rest, "charts/"), "/")
				of, rest = dependency(of, dir), file
			}
			if of == nil {
				yield(nil, fmt.Errorf("%s is of no dependency", p))
				return
			}
			text, ok := changedText(fileOf(of, path.Base(p.Path)), p, change)
			if !ok {
				continue
			}
			other := *r.release
			into := any(&of.Values)
			if path.Base(p.Path) == "Chart.yaml" {
				into = of.Metadata
			}
			err := sigsyaml.Unmarshal([]byte(text), into)
			var again *release.Rendered
			if err == nil {
				other.Chart = release.NewChart(changed)
				again, err = other.Once(context.Background())
			}
			if !yield(again, err) {
				return
			}
		}
	}
}

// dependency returns the dependency of a chart in a directory of its charts/; nil if there is none.
func dependency(c *helmchart.Chart, dir string) *helmchart.Chart {
	for _, d := range c.Dependencies() {
		if d.Name() == dir {
			return d
		}
	}
	return nil
}

// differs reports whether a field is changed or missing in another rendering, in the object with the same kind
// and name.
func (r *released) differs(again *release.Rendered, c claim) bool {
	was := r.objects[c.object]
	kind, name := (&render.Object{JSON: was.JSON}).KindAndName()
	for _, o := range slices.Concat(again.CRDs, again.Objects, again.Hooks) {
		if k, n := (&render.Object{JSON: o.JSON}).KindAndName(); o.File == was.File && k == kind && n == name && o.Document != nil {
			now, found := origin.Field(o.Document.Content(), c.field)
			return !found || !reflect.DeepEqual(now, c.value)
		}
	}
	return true
}

// changes is the number of changes tried for a scalar.
const changes = 3

// changedText returns a text with another scalar at a position, by the number of the change; ok is false if
// there is no scalar.
func changedText(text string, p tree.Position, by int) (changed string, ok bool) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return "", false
	}
	var change func(n *yaml.Node) bool
	change = func(n *yaml.Node) bool {
		if n.Line != p.Line || n.Column != p.Column || n.Kind != yaml.ScalarNode {
			return slices.ContainsFunc(n.Content, change)
		}
		was := n.Value
		switch number, err := strconv.Atoi(n.Value); {
		case n.Tag == "!!bool":
			n.Value = fmt.Sprint(n.Value != "true")
		case n.Tag == "!!null":
			n.Tag, n.Value = "!!str", "x"
		case err == nil:
			n.Value = strconv.Itoa([]int{number + 1, number - 1, number/10*10 + (number+1)%10}[by])
		case n.Tag == "!!int", n.Tag == "!!float":
			n.Value = []string{"7" + strings.TrimLeft(n.Value, "-0"), "1", n.Value}[by]
		default:
			digits := regexp.MustCompile(`[0-9]`).FindAllStringIndex(n.Value, -1)
			switch {
			case by == 0 || len(digits) == 0:
				n.Value += "x"
			case by == 1:
				n.Value = n.Value[:digits[0][0]] + "7" + n.Value[digits[0][1]:]
			default:
				last := digits[len(digits)-1]
				n.Value = n.Value[:last[0]] + string('0'+(n.Value[last[0]]-'0'+1)%10) + n.Value[last[1]:]
			}
		}
		return n.Value != was
	}
	if !change(&doc) {
		return "", false
	}
	out, err := yaml.Marshal(&doc)
	return string(out), err == nil
}
