package argocd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

// helmPart is a chart with values.
type helmPart struct{ *part }

func (h *helmPart) options() Helm {
	if h.source.Helm == nil {
		return Helm{}
	}
	return *h.source.Helm
}

func (h *helmPart) needs() *render.Needs {
	in := &render.Needs{Trace: tree.NewTrace(), Charts: true, Composition: render.Composition{Generated: map[string]bool{}}}
	h.traceChart(in.Trace)
	given, err := h.values(in.Trace)
	if err != nil {
		in.Problem = h.problem(err)
		return in
	}
	in.Texts = func(files [][]byte) ([][]byte, bool) {
		all := append(files[:len(files):len(files)], given.texts()...)
		if c := h.charts.of(h); c.err == nil {
			all = append(all, texts(c.chart.Chart)...)
		}
		return all, true
	}
	return in
}

// traceChart records the files of a chart in the tree.
func (h *helmPart) traceChart(trace tree.Trace) {
	if h.from.IsChart() {
		return
	}
	h.tree.TraceBelow(h.dir, trace)
	for _, d := range h.from.Dependencies {
		if d.Digest == "" {
			h.tree.TraceBelow(path.Join(h.top, d.Dir), trace)
		}
	}
}

func (h *helmPart) manifests() render.Manifests { return render.Manifests{} }

func (h *helmPart) make(ctx context.Context, trace tree.Trace) (*made, *render.Problem) {
	h.traceChart(trace)
	run, err := h.run(trace)
	if err != nil {
		return nil, h.problem(err)
	}
	rendered, err := run.render(ctx)
	if err != nil {
		return nil, h.problem(err)
	}
	out := &made{}
	traced := &tracedRelease{helmPart: h, run: run, chart: rendered.Chart}
	add := func(all []*release.Object, role render.Role) error {
		for _, o := range all {
			items, err := expanded(o.JSON)
			if err != nil {
				return &release.Problem{Chart: rendered.Chart, File: o.File, Line: 1, Message: err.Error()}
			}
			for _, item := range items {
				item.Role, item.Unknown = role, o.Unknown
				out.objects = append(out.objects, item.Object)
				traced.items = append(traced.items, itemOf{len(traced.objects), item.at, item.Object})
			}
			traced.objects = append(traced.objects, o)
		}
		return nil
	}
	skipTests := h.options().SkipTests
	hooks := slices.DeleteFunc(slices.Clone(rendered.Hooks), func(o *release.Object) bool {
		return skipTests && slices.Contains(o.Events, "test")
	})
	if err := cmp.Or(add(rendered.CRDs, render.RoleObject), add(rendered.Objects, render.RoleObject), add(hooks, render.RoleIdleHook)); err != nil {
		return nil, h.problem(err)
	}
	out.origins = traced.origins
	for _, why := range rendered.Unchecked {
		out.diagnostics = append(out.diagnostics, render.Diagnostic{
			Severity: render.SeverityNote, Position: h.written(h.field("")), Message: "values were not checked against the schema of chart " + why,
		})
	}
	return out, nil
}

// run is a release and the values for rendering it.
type run struct {
	*release.Release
	given *given
}

// run prepares the release for rendering.
func (h *helmPart) run(trace tree.Trace) (*run, error) {
	c := h.charts.of(h)
	if c.err != nil {
		return nil, c.err
	}
	given, err := h.values(trace)
	if err != nil {
		return nil, err
	}
	user, err := values.FromCommandLine(given.files, given.assigned)
	if err != nil {
		return nil, err
	}
	r, err := h.release(user)
	if err != nil {
		return nil, err
	}
	r.Chart = c.chart
	return &run{r, given}, nil
}

// render renders the release, always as an installation.
func (r *run) render(ctx context.Context) (*release.Rendered, error) {
	rendered, err := r.Render(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range append(rendered.Objects[:len(rendered.Objects):len(rendered.Objects)], rendered.Hooks...) {
		if kind, _ := (&render.Object{JSON: o.JSON}).KindAndName(); kind == "" {
			return nil, &release.Problem{Chart: rendered.Chart, File: o.File, Line: 1, Message: "the output is no object: Object 'Kind' is missing"}
		}
	}
	return rendered, nil
}

// release returns the release that `helm template` renders.
func (h *helmPart) release(user map[string]any) (*release.Release, error) {
	opts, application := h.options(), h.root.Unit.Application
	version, served, err := h.capabilities(opts.KubeVersion, opts.APIVersions)
	if err != nil {
		return nil, &optionError{"helm.kubeVersion", err.Error()}
	}
	if !slices.Contains([]string{"", "v3", "v4"}, opts.Version) {
		return nil, optionErrorf("helm.version", "helm version '%s' is not supported", opts.Version)
	}
	capabilities, err := values.Capabilities(version, served)
	if err != nil {
		return nil, err
	}
	name := h.app.Metadata.Name
	if opts.ReleaseName != "" {
		name = opts.ReleaseName
	}
	r := &release.Release{
		Values: user, Capabilities: capabilities, KindsKnown: h.knowsKinds(opts.APIVersions), Template: true, SkipCRDs: opts.SkipCrds, SkipSchema: opts.SkipSchemaValidation,
		Release: values.Release{Name: name, Namespace: cmp.Or(opts.Namespace, h.app.Spec.Destination.Namespace, "default")},
	}
	r.Options.Seed = application.Instance
	return r, nil
}

// problem converts an error to a problem.
func (h *helmPart) problem(err error) *render.Problem {
	var option *optionError
	if errors.As(err, &option) {
		return h.failed(h.field(option.field), err)
	}
	inChart := new(release.Problem)
	if !errors.As(err, &inChart) {
		return h.failed(h.field("helm"), err)
	}
	p := h.failed(h.field("helm"), errors.New(inChart.Message))
	if inChart.Refused {
		p.Kind = render.ProblemRefused
	}
	if inChart.File == "" {
		return p
	}
	name, ok := h.charts.of(h).chart.Directories.Path(inChart.Chart, inChart.File)
	if !ok || h.top != "." {
		p.Message = fmt.Sprintf("%s:%d: %s", inChart.File, inChart.Line, inChart.Message)
		return p
	}
	p.Position = tree.Position{Path: name, Line: inChart.Line}
	return p
}
