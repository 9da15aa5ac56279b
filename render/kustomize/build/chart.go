package build

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Chart is an entry that makes kustomize inflate a chart.
type Chart struct {
	types.HelmChart
	// From is the kustomization, and At the entry in it; nil for an entry of a generator, which begins at
	// Position.
	From *Kustomization
	At   []any
	tree.Position
	// Dir is the directory of the chart; empty for a chart that is an Artifact with a Digest.
	Dir      string
	Artifact render.Artifact
	Digest   string

	// inherits is set if the chart gets the namespace of the kustomizations that use it.
	inherits bool
	// generator is the index of the entry below generators.
	generator []any
	// Text holds the objects of the inflated chart; nil before it is inflated.
	Text []byte
	// absent is set if the chart is unavailable and left out.
	absent *Absent
}

// IsAbsent reports whether the closure is built without the chart.
func (c *Chart) IsAbsent() bool { return c.absent != nil }

// objects returns the objects of the inflated chart, or the stubs in their place.
func (c *Chart) objects() []byte {
	if c.absent != nil {
		return c.absent.stubbed()
	}
	return c.Text
}

// Field returns where a field of the entry is written.
func (c *Chart) Field(at ...any) tree.Position {
	if c.At == nil {
		return c.Position
	}
	return c.From.Position(append(slices.Clone(c.At), at...)...)
}

// charts records the charts that a kustomization inflates.
func (w *walker) charts(k *Kustomization) {
	old, globals := types.SplitHelmParameters(k.Spec.HelmChartInflationGenerator)
	if k.Spec.HelmGlobals != nil {
		globals = *k.Spec.HelmGlobals
	}
	add := func(c types.HelmChart, field string, i int) {
		w.chart(&Chart{HelmChart: c, From: k, At: []any{field, i}, Position: k.Position(field, i), inherits: c.Namespace == ""}, globals)
	}
	for i, c := range k.Spec.HelmCharts {
		add(c, "helmCharts", i)
	}
	for i, c := range old {
		add(c, "helmChartInflationGenerator", i)
	}
}

// generator records a chart of a HelmChartInflationGenerator, in a file or text below `generators`.
func (w *walker) generator(e Entry, config map[string]any, pos tree.Position) {
	if len(e.At) == 0 || e.At[0] != "generators" {
		w.refuse(pos, "a HelmChartInflationGenerator is run only where a kustomization lists it under generators")
		return
	}
	var c struct {
		types.HelmGlobals
		types.HelmChart
	}
	data, err := sigsyaml.Marshal(config)
	if err == nil {
		err = sigsyaml.Unmarshal(data, &c)
	}
	if err != nil {
		w.refuse(pos, "a HelmChartInflationGenerator is not as kustomize expects it: %v", err)
		return
	}
	w.chart(&Chart{HelmChart: c.HelmChart, From: e.From, generator: e.At[1:], Position: pos}, c.HelmGlobals)
}

// chart looks for a chart first in the tree, as kustomize does, then among the artifacts.
func (w *walker) chart(c *Chart, globals types.HelmGlobals) {
	w.out.Charts = append(w.out.Charts, c)
	if to := w.tree.Resolve(path.Join(c.From.Dir, inflatedDir)); to.Err == nil {
		w.refuse(c.Position, "there is a %s in %s, which has another meaning here: rename it", inflatedDir, c.From.Dir)
	}
	switch {
	case c.Name == "":
		w.failAt(c.Position, "an entry for a chart has no name")
		return
	case strings.HasPrefix(c.Name, "-") || strings.HasPrefix(c.ReleaseName, "-"):
		w.failAt(c.Position, "neither the name of a chart nor that of its release may begin with -")
		return
	case !slices.Contains([]string{"", "merge", "override", "replace"}, c.ValuesMerge):
		w.failAt(c.Field("valuesMerge"), "valuesMerge has to be merge, override or replace, not %s", Quote(c.ValuesMerge))
		return
	}
	home := globals.ChartHome
	if home == "" {
		home = types.HelmDefaultHome
	}
	if c.Version != "" && c.Repo != "" {
		home = path.Join(home, c.Name+"-"+c.Version)
	}
	for _, name := range c.valuesFiles() {
		w.tree.TraceFile(name, w.trace)
	}
	if !filepath.IsAbs(home) {
		dir := path.Join(c.From.Dir, filepath.ToSlash(home), c.Name)
		w.tree.TraceFile(dir, w.trace)
		if to := w.tree.Resolve(dir); to.Err == nil && to.IsDir {
			c.Dir = to.Real
			w.tree.TraceBelow(to.Real, w.trace)
			return
		}
	}
	if c.Repo == "" {
		w.failAt(c.Position, "there is no chart %s in %s, and no repo from which to get it", Quote(c.Name), home)
		return
	}
	w.chartArtifact(c)
}

// chartArtifact looks for a chart among the artifacts.
func (w *walker) chartArtifact(c *Chart) {
	c.Artifact = render.Artifact{Kind: render.ArtifactChart, URL: c.Repo, Name: c.Name, Version: c.Version, Position: c.Position}
	w.need(c.Artifact)
	asked := c.Artifact.Requested()
	w.tree.TraceBytes(asked, w.trace)
	_, pin, err := w.tree.Bytes(asked)
	if err != nil {
		w.leaveOutChart(c, tree.WhyAbsent(asked, err))
		return
	}
	c.Digest = pin.Digest
}

// valuesFiles returns the values files of a chart that are in the tree.
func (c *Chart) valuesFiles() []string {
	var all []string
	for _, name := range append([]string{c.ValuesFile}, c.AdditionalValuesFiles...) {
		if name != "" && !filepath.IsAbs(name) && !remoteFile(name) {
			all = append(all, path.Join(c.From.Dir, filepath.ToSlash(name)))
		}
	}
	return all
}

// failAt records a reason why kustomize's build will fail, if none is recorded.
func (w *walker) failAt(at tree.Position, format string, args ...any) {
	if w.out.Refused == nil {
		w.out.Refused = &render.Problem{Kind: render.ProblemFailed, Position: at, Message: fmt.Sprintf(format, args...)}
	}
}

// inherit sets the namespace of charts without one to that of the nearest kustomization that has one, among
// those that use the chart's.
func (w *walker) inherit() {
	for _, c := range w.out.Charts {
		if !c.inherits {
			continue
		}
		found := map[string]bool{}
		w.namespaces(c.From.Dir, found, map[string]bool{})
		if len(found) > 1 {
			w.refuse(c.Position, "the chart %s is inflated for several namespaces, those of the kustomizations that use it: give it a namespace", Quote(c.Name))
		}
		for namespace := range found {
			c.Namespace = namespace
		}
	}
}

// namespaces adds all namespaces that a kustomization may inherit from its users; "" for a root without one.
func (w *walker) namespaces(dir string, found, seen map[string]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	for _, k := range w.out.Files {
		if k.Dir == dir && k.Spec.Namespace != "" {
			found[k.Spec.Namespace] = true
			return
		}
	}
	if len(w.users[dir]) == 0 {
		found[""] = true
	}
	for _, user := range w.users[dir] {
		w.namespaces(user, found, seen)
	}
}

// mixed refuses generators that inflate charts together with other generators.
func (w *walker) mixed() {
	for _, c := range w.out.Charts {
		if c.generator != nil && w.others[fmt.Sprint(c.From.Path, c.generator)] {
			w.refuse(c.Position, "a chart is inflated only by a generator that is in a file of its own, or beside other charts")
		}
	}
}
