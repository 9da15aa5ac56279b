package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/values"
)

// Release is a release of a chart, as a deployer installs it.
type Release struct {
	Chart *Chart
	// Values are the merged values of the chart's user.
	Values map[string]any
	values.Release
	Capabilities *common.Capabilities
	// KindsKnown is set when Capabilities include all custom kinds that the cluster serves.
	KindsKnown bool
	// ChartVersion is the version of the chart that templates see; empty for the chart's own.
	ChartVersion string
	// PostRenderers are applied in order, then CommonMetadata, then Labels.
	PostRenderers  []PostRenderer
	CommonMetadata Metadata
	// Labels are the deployer's labels; definitions of crds/ get them too.
	Labels map[string]string
	// Strategy is the postRenderStrategy; empty for `combined`.
	Strategy string
	// SkipSchema disables the check of values against schemas.
	SkipSchema bool
	// SkipCRDs leaves out crds/, SkipHooks leaves out hooks.
	SkipCRDs, SkipHooks bool
	// Plain is set for Helm's own commands: without a post-renderer, Helm does not run its code for them.
	Plain bool
	// Template renders what `helm template` prints: it implies Plain, and objects lack the metadata that Helm
	// adds when it applies them.
	Template bool
	Options  engine.Options

	// ready is the prepared input of the templates; nil if it is not prepared yet.
	ready *with
	// customKinds makes templates see a cluster that serves all custom kinds.
	customKinds bool
}

// Rendered contains the objects that a release applies.
type Rendered struct {
	// Objects are in the order of application.
	Objects []*Object
	Hooks   []*Object
	// Possible are objects and hooks that exist only with other random results, other contents of the cluster,
	// or other values in place of unknown ones.
	Possible []*Object
	// CRDs are the definitions of crds/, which are applied first.
	CRDs []*Object
	// Unchecked are the schemas that values were not checked against.
	Unchecked []string
	// Queries are the chart's lookups with unknown answers, each once, in order.
	Queries []engine.Query
	// Files are the outputs of the templates.
	Files []*engine.File
	// Chart is the chart without disabled dependencies, and with the names that its parent sets.
	Chart *helmchart.Chart
	// possible are the places of Possible.
	possible map[place]bool
}

// Object is an object of a release.
type Object struct {
	// JSON is the object, with sorted keys.
	JSON []byte
	// File is the path of the template, or of the file in crds/, from the name of the chart.
	File string
	// Document is the output that the object was made of; nil for objects of crds/, and for those that a
	// post-renderer added or removed the annotation from.
	Document *Document
	// Events are the events of a hook, Weight orders the hooks of an event, and Policies decide when it is
	// deleted.
	Events   []string
	Weight   int
	Policies []string
	// Defines is the definition in a CustomResourceDefinition of crds/; nil for other objects.
	Defines *render.Definition
	// Unknown are the fields that are random, or depend on unknown state of the cluster.
	Unknown []render.Unknown

	kind string
	// decoded is the object until sortIn encodes it.
	decoded map[string]any
}

// Problem is the reason why a release cannot be rendered.
type Problem struct {
	// File is the path of a file of the chart, from the chart's name; empty if the problem is in none.
	File    string
	Line    int
	Message string
	// Chart is the chart of File.
	Chart *helmchart.Chart
	// Refused is set when the chart may be correct, but exceeds a limit or depends on unknown state of the
	// cluster.
	Refused bool
	// Queries are the chart's lookups with unknown answers before the problem.
	Queries []engine.Query
}

func (p *Problem) Error() string {
	if p.File == "" {
		return p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Render renders a release. An error in the chart or the values is a *Problem.
func (r *Release) Render(ctx context.Context) (*Rendered, error) {
	rendered, chance, err := r.sure(ctx, r.Options)
	if err != nil {
		return nil, err
	}
	for _, v := range variants(r.Options, chance) {
		other, _, err := r.once(ctx, v.options)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rendered.unknown(other, err, v.calls)
	}
	return rendered, nil
}

// Once renders a release without looking for unknown fields.
func (r *Release) Once(ctx context.Context) (*Rendered, error) {
	rendered, _, err := r.sure(ctx, r.Options)
	return rendered, err
}

// once renders a release with one variant of random results.
func (r *Release) once(ctx context.Context, opts engine.Options) (*Rendered, []engine.Chance, error) {
	c, rendering, unchecked, err := r.execute(ctx, opts)
	asked := unknownLookups(rendering)
	if err != nil {
		return nil, nil, unsure(err, asked)
	}
	rendered := &Rendered{Unchecked: unchecked, Files: rendering.Files, Chart: c, Queries: asked}
	if err := r.objects(rendered); err != nil {
		return nil, nil, unsure(inChart(c, err), asked)
	}
	if !r.SkipCRDs {
		if rendered.CRDs, err = r.Chart.definitions(c, r.Labels, r.Template); err != nil {
			return nil, nil, inChart(c, err)
		}
	}
	return rendered, rendering.Chance, nil
}

// maxAsked limits how many lookups are recorded.
const maxAsked = 100

// unknownLookups returns the lookups with unknown answers.
func unknownLookups(r *engine.Rendering) (asked []engine.Query) {
	if r == nil {
		return nil
	}
	for _, c := range r.Chance {
		if c.Function == engine.Lookup && !slices.Contains(asked, c.Query) && len(asked) < maxAsked {
			asked = append(asked, c.Query)
		}
	}
	return asked
}

// unsure marks a problem as refused if it may depend on lookups with unknown answers.
func unsure(err error, asked []engine.Query) error {
	p := new(Problem)
	if len(asked) == 0 || !errors.As(err, &p) {
		return err
	}
	unsure := *p
	unsure.Refused, unsure.Queries = true, asked
	unsure.Message += ": what the chart looks up in the cluster is not known"
	return &unsure
}

// execute executes the templates of the chart, and returns the chart without disabled dependencies.
func (r *Release) execute(ctx context.Context, opts engine.Options) (c *helmchart.Chart, rendering *engine.Rendering, unchecked []string, err error) {
	c, all, err := r.Prepare()
	if err != nil {
		return nil, nil, nil, err
	}
	if unchecked, err = r.check(c, all); err != nil {
		return nil, nil, nil, err
	}
	if rendering, err = r.Chart.engine.Render(ctx, c, r.seeing(all), r.known(opts)); err != nil {
		return nil, rendering, nil, problem(c, err)
	}
	return c, rendering, unchecked, nil
}

// Prepare returns the chart without disabled dependencies, and the input of its templates.
func (r *Release) Prepare() (c *helmchart.Chart, all common.Values, err error) {
	if r.ready != nil {
		return r.ready.take()
	}
	if err := chartutil.ValidateReleaseName(r.Name); err != nil {
		return nil, nil, &Problem{Message: fmt.Sprintf("release name %q: %v", r.Name, err)}
	}
	if wanted := r.Chart.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, r.Capabilities.KubeVersion.String()) {
		return nil, nil, &Problem{Message: fmt.Sprintf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", wanted, r.Capabilities.KubeVersion.Version)}
	}
	c = chart.Copy(r.Chart.Chart)
	c.Metadata.Version = cmp.Or(r.ChartVersion, c.Metadata.Version)
	if all, err = values.Prepare(c, chart.CopyValues(r.Values), r.Release, r.Capabilities); err != nil {
		return nil, nil, &Problem{Message: err.Error()}
	}
	return c, all, nil
}

// check checks values against the schemas of the chart.
func (r *Release) check(c *helmchart.Chart, all common.Values) (unchecked []string, err error) {
	if r.SkipSchema {
		return nil, nil
	}
	v := r.Chart.schemas.Check(c, all["Values"].(common.Values))
	if v.Invalid != "" {
		return nil, &Problem{Message: v.Invalid}
	}
	return v.Unchecked, nil
}

// known returns options with the deployer's `lookup`: that of `helm template` finds nothing.
func (r *Release) known(opts engine.Options) engine.Options {
	if r.Template && opts.Lookup == nil {
		opts.Lookup = nothing
	}
	return opts
}

// nothing is the `lookup` of `helm template`, which does not query a cluster.
func nothing(engine.Query, int) engine.Answer { return engine.Answer{Known: true} }

func problem(c *helmchart.Chart, err error) error {
	if e, ok := err.(*engine.Error); ok {
		return &Problem{Chart: c, File: e.File, Line: e.Line, Message: e.Message, Refused: e.Limit}
	}
	return err
}

// inChart sets the chart of a problem.
func inChart(c *helmchart.Chart, err error) error {
	if p, ok := err.(*Problem); ok {
		in := *p
		in.Chart = c
		return &in
	}
	return err
}

// isNotes reports whether a template makes the notes that Helm prints for the user.
func isNotes(name string) bool { return strings.HasSuffix(name, "NOTES.txt") }
