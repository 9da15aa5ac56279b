package deploy

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// resolveChart finds the chart of a release, or sets the reason why it is missing.
func (e *expander) resolveChart(n *node) error {
	spec := n.release.Spec
	switch {
	case spec.ChartRef != nil:
		n.named("spec.chartRef.name", "spec.chartRef")
		return e.chartOf(n, spec.ChartRef.In(n.release.Namespace()), "spec.chartRef")
	case spec.Chart != nil:
		n.named("spec.chart.spec.version", "spec.chart.spec.chart")
		return e.chartIn(n, spec.Chart.Spec, n.release.Namespace(), "spec.chart.spec")
	}
	n.fail(render.ProblemFailed, "spec", "the HelmRelease names no chart: it needs spec.chart or spec.chartRef")
	return nil
}

// named records the fields of a HelmRelease that name its chart.
func (n *node) named(fields ...string) {
	n.namedBy(objects.Held{Object: &render.Object{Index: n.root.Unit.Index}, Root: n.root.Unit.Parent}, fields...)
}

// namedBy puts the fields of an object that name the chart of a release before the recorded ones.
func (n *node) namedBy(o objects.Held, fields ...string) {
	var all []render.FieldRef
	for _, field := range fields {
		all = append(all, render.FieldRef{Root: o.Root, Index: o.Object.Index, Path: field})
	}
	n.root.Unit.Release.Named = append(all, n.root.Unit.Release.Named...)
}

// chartOf resolves the chart of a release that refers to an object by spec.chartRef.
func (e *expander) chartOf(n *node, ref render.ObjectRef, field string) error {
	found, ok, err := e.lookUp(n.cluster, ref)
	if err != nil {
		return err
	}
	if !ok {
		n.failMissing(field, fmt.Sprintf("its chart %s is not in the repository, so the source of the chart is not known", ref), nil)
		return nil
	}
	switch ref.Kind {
	case "HelmChart":
		var o struct {
			Spec fluxtypes.ChartSpec `json:"spec"`
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(found.Object.JSON, &o); err != nil {
			n.fail(render.ProblemFailed, field, fmt.Sprintf("its chart %s is not valid: %v", ref, err))
			return nil
		}
		n.namedBy(found, "spec.version", "spec.chart")
		return e.chartIn(n, o.Spec, ref.Namespace, field)
	case "OCIRepository":
		n.namedBy(found, "spec.ref.digest", "spec.ref.semver", "spec.ref.tag", "spec.url")
		e.chartOCI(n, ref, found, field)
		return nil
	}
	n.failMissing(field, fmt.Sprintf("its chart is made by %s, which is not followed", ref), nil)
	return nil
}

// chartOCI resolves the chart in an OCIRepository.
func (e *expander) chartOCI(n *node, ref render.ObjectRef, found objects.Held, field string) {
	o := fluxtypes.Source{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(found.Object.JSON, &o); err != nil {
		n.fail(render.ProblemFailed, field, fmt.Sprintf("its chart %s is not valid: %v", ref, err))
		return
	}
	if why := found.Object.UnknownSpec(); why != "" {
		n.failMissing(field, fmt.Sprintf("where its chart %s comes from is not known: %s", ref, why), nil)
		return
	}
	url := strings.TrimRight(o.Spec.URL, "/")
	e.archive(n, artifact.Artifact{
		Kind: artifact.Chart, URL: strings.TrimSuffix(url, "/"+path.Base(url)), Name: path.Base(url),
		Version: cmp.Or(o.Spec.Ref.Digest, o.Spec.Ref.SemVer, o.Spec.Ref.Tag),
	}, field)
}

// chartIn resolves a chart in its source.
func (e *expander) chartIn(n *node, spec fluxtypes.ChartSpec, namespace, field string) error {
	ref := spec.SourceRef.In(namespace)
	found, ok, err := e.lookUp(n.cluster, ref)
	if err != nil {
		return err
	}
	r := n.root.Unit.Release
	if r.ValuesFiles = spec.ValuesFiles; len(r.ValuesFiles) == 0 && spec.ValuesFile != "" {
		r.ValuesFiles = []string{spec.ValuesFile}
	}
	r.IgnoreMissing, r.VersionPart = spec.IgnoreMissingValuesFiles, spec.VersionPart()
	if ref.Kind == "GitRepository" {
		e.chartDirectory(n, spec, ref, found, ok)
		return nil
	}
	o := fluxtypes.Source{}
	switch {
	case !ok:
		n.failMissing(field, fmt.Sprintf("the source %s of its chart %s %s is not in the repository, so its URL is not known", ref, spec.Chart, spec.Version), nil)
	case ref.Kind != "HelmRepository":
		n.failMissing(field, fmt.Sprintf("its chart %s comes from %s, which is not fetched", spec.Chart, ref), nil)
	case kjson.UnmarshalCaseSensitivePreserveInts(found.Object.JSON, &o) != nil || o.Spec.URL == "":
		n.fail(render.ProblemFailed, field, fmt.Sprintf("the source %s of its chart is not valid: it needs a URL", ref))
	case found.Object.UnknownSpec() != "":
		n.failMissing(field, fmt.Sprintf("where the source %s of its chart is, is not known: %s", ref, found.Object.UnknownSpec()), nil)
	default:
		e.archive(n, artifact.Artifact{Kind: artifact.Chart, URL: o.Spec.URL, Name: spec.Chart, Version: spec.Version}, field)
	}
	return nil
}

// chartDirectory resolves the chart in a directory of a GitRepository.
func (e *expander) chartDirectory(n *node, spec fluxtypes.ChartSpec, ref render.ObjectRef, found objects.Held, ok bool) {
	checkout, why, elsewhere := e.checkout(n.cluster, ref, found, ok)
	if why != "" && elsewhere == nil {
		n.failMissing("spec.chart.spec", why, nil)
		return
	}
	dir := path.Join(checkout.Top, path.Clean("/" + spec.Chart)[1:])
	in := dir // the directory in the tree
	if elsewhere != nil {
		top, absent := e.renderer.Tree().Mounted(why, elsewhere.Requested())
		if absent != "" {
			n.failMissing("spec.chart.spec", absent, elsewhere)
			return
		}
		elsewhere.Locate = n.locator("spec.chart.spec")
		in, n.root.Unit.Artifact = path.Join(top, dir), elsewhere
	}
	n.root.Unit.Checkout = checkout
	if to := e.renderer.Tree().Resolve(path.Join(in, "Chart.yaml")); to.Err != nil {
		n.fail(render.ProblemFailed, "spec.chart.spec.chart", fmt.Sprintf("there is no chart in %s: it has no Chart.yaml", dir))
		return
	}
	if n.root.Unit.Release.Dir = dir; elsewhere == nil {
		n.root.Dir = dir
	}
	n.root.Unit.Release.ChartName, _ = chart.NameOf(e.renderer.Tree(), in) // rendering the chart reports what is wrong
	if source, err := e.sourceTree(n.root.Unit); err == nil {
		e.resolveDependencies(n, source, dir)
	}
}

// archive sets the chart of a release to an archive, if it was fetched.
func (e *expander) archive(n *node, a artifact.Artifact, field string) {
	data, pin, err := e.renderer.Tree().Bytes(a)
	needed := &render.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version}
	if err != nil {
		n.failMissing(field, tree.WhyAbsent(a, err), needed)
		return
	}
	needed.Locate = n.locator(field)
	n.root.Unit.Artifact = needed
	n.root.Unit.Release.Chart, n.root.Unit.Release.Digest = a, pin.Digest
	n.root.Unit.Release.ChartName = chart.NameIn(data)
}

// failMissing marks a release as not rendered because its chart is missing; needed is the missing artifact.
func (n *node) failMissing(field, why string, needed *render.Artifact) {
	for _, at := range n.root.Unit.Release.Named {
		_, has := origin.Field((&render.Object{JSON: n.root.Unit.Object}).Content(), at.Path)
		if has && at.Root == n.root.Unit.Parent && at.Index == n.root.Unit.Index {
			field = at.Path
			break
		}
	}
	n.fail(render.ProblemRefused, field, why)
	if needed != nil {
		needed.Locate = n.root.Unit.Problem.Locate
		n.root.Unit.Artifact = needed
	}
}

// invalid marks a release as not installable, unless it already has a problem.
func (n *node) invalid(field, why string) {
	if n.root.Unit.Problem == nil {
		n.fail(render.ProblemFailed, field, why)
	}
}
