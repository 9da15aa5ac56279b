package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/tree"
)

// Source is the render.Source of HelmReleases. Its roots have a Unit with a Release; they are not found in
// directories, but among the objects of other roots.
type Source struct {
	tree   *tree.Tree
	views  *flux.Views
	charts *charts
	kept   *kept
}

// New returns the Source of the HelmReleases of a tree.
func New(t *tree.Tree, _ render.Options) render.Source {
	return &Source{t, flux.NewViews(t), &charts{all: map[string]func() *loaded{}}, &kept{of: map[render.RootID]keptRelease{}}}
}

// Kind implements Source.
func (s *Source) Kind() render.RootKind { return render.KindHelm }

// RootFile implements Source.
func (s *Source) RootFile(string) bool { return false }

// Uses implements Source.
func (s *Source) Uses(string, []string) *render.Uses { return nil }

// Reads implements Source.
func (s *Source) Reads(string) tree.Trace { return tree.NewTrace() }

// At implements Source.
func (s *Source) At(string) (render.Root, bool) { return render.Root{}, false }

// Parts implements Source.
func (s *Source) Parts(render.Root) []render.Root { return nil }

// Manifests implements Source: the files of a chart are no manifests.
func (s *Source) Manifests(render.Root) render.Manifests { return render.Manifests{} }

// problem returns the reason why a root cannot be rendered, if it is known before rendering.
func (s *Source) problem(root render.Root) *render.Problem {
	switch {
	case root.Unit == nil || root.Unit.Problem == nil && root.Unit.Release == nil:
		return &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: "no object deploys this root"}
	case root.Unit.Problem != nil:
		return root.Unit.Problem
	}
	return nil
}

// Needs implements Source.
func (s *Source) Needs(root render.Root) *render.Needs {
	in := &render.Needs{Trace: s.traceOf(root), Problem: s.problem(root), Charts: true, Composition: render.Composition{Generated: map[string]bool{}}}
	if in.Problem != nil {
		return in
	}
	in.Texts = func(files [][]byte) ([][]byte, bool) {
		all := append(files[:len(files):len(files)], valuesOf(root.Unit.Object))
		for _, reference := range root.Unit.Release.References {
			all = append(all, []byte(reference.Data))
		}
		if n := namespaceOf(root.Unit); n != nil { // it may decide policies, and no file contains it
			all = append(all, n.JSON)
		}
		return all, true
	}
	in.Shared = func() tree.WordSet { return s.chartOf(root).words() }
	return in
}

// valuesOf returns the parts of a HelmRelease that may occur in the objects of its chart: not its own kind,
// nor that of the chart's source.
func valuesOf(object json.RawMessage) []byte {
	var h struct {
		Spec struct {
			Values         json.RawMessage `json:"values"`
			PostRenderers  json.RawMessage `json:"postRenderers"`
			CommonMetadata json.RawMessage `json:"commonMetadata"`
		} `json:"spec"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(object, &h) != nil {
		return object
	}
	return bytes.Join([][]byte{h.Spec.Values, h.Spec.PostRenderers, h.Spec.CommonMetadata}, []byte("\n"))
}

// Render implements Source.
func (s *Source) Render(ctx context.Context, root render.Root) *render.Result {
	result := &render.Result{Root: root, Trace: s.traceOf(root), Problem: s.problem(root)}
	if result.Problem != nil {
		return result
	}
	in := &installed{Source: s, root: root, chart: s.chartOf(root), kubeVersion: &render.KubeVersionUse{}}
	if in.chart.err != nil {
		result.Problem = in.failed(in.chart.err)
		return result
	}
	in.kubeVersion.Allowed, result.KubeVersion = in.chart.chart.Metadata.KubeVersion, in.kubeVersion
	rendered, err := in.render(ctx)
	if err != nil {
		result.Problem = in.failed(err)
		if p := new(release.Problem); errors.As(err, &p) {
			result.Queries = queries(p.Queries)
		}
		return result
	}
	result.Objects, result.Queries = in.objects(rendered), queries(rendered.Queries)
	for _, why := range rendered.Unchecked {
		result.Diagnostics = append(result.Diagnostics, render.Diagnostic{
			Severity: render.SeverityNote, Position: in.chartLine(), Message: "values were not checked against the schema of chart " + why,
		})
	}
	return result
}

// installed is the rendering of a root.
type installed struct {
	*Source
	root  render.Root
	chart *loaded
	// kubeVersion records whether the version of Kubernetes is read; nil if nobody needs it.
	kubeVersion *render.KubeVersionUse
	// digest replaces the digest of the chart's manifest; empty for the known one.
	digest string
	// revision replaces the revision of the release; 0 for none.
	revision int
}

// written returns where a field of the HelmRelease is written, or its nearest parent.
func (in *installed) written(field string) tree.Position {
	if at := in.root.Unit.Position(context.Background(), field); at.Path != "" {
		return at
	}
	return tree.Position{Path: in.root.Dir}
}

// chartLine returns where the chart of the release is named: its version if there is one.
func (in *installed) chartLine() tree.Position {
	if at, ok := in.root.Unit.FirstPosition(context.Background(), in.root.Unit.Release.Named); ok {
		return at
	}
	if in.root.Unit.Release.Own {
		return tree.Position{Path: path.Join(in.root.Dir, "Chart.yaml"), Line: 1}
	}
	return in.written("spec.chart")
}

// failed converts an error to a problem.
func (in *installed) failed(err error) *render.Problem {
	if p := render.OverLimit(err); p != nil {
		return p
	}
	p := &render.Problem{Kind: render.ProblemFailed, Position: in.chartLine(), Message: err.Error()}
	if missing := new(artifact.MissingError); errors.As(err, &missing) {
		p.Kind = render.ProblemRefused
	}
	if limit := new(chart.LimitError); errors.As(err, &limit) {
		p.Kind = render.ProblemRefused
	}
	inChart := new(release.Problem)
	if !errors.As(err, &inChart) {
		return p
	}
	if inChart.Refused || len(in.root.Unit.Release.Unknown) > 0 || in.hasUnknownReference() {
		p.Kind = render.ProblemRefused // it might render with the unknown values
	}
	p.Message = in.name() + ": " + inChart.Message
	if inChart.File == "" {
		return p
	}
	if name, ok := in.chart.chart.Directories.Path(inChart.Chart, inChart.File); ok {
		p.Position = tree.Position{Path: name, Line: inChart.Line}
		return p
	}
	_, file, _ := strings.Cut(inChart.File, "/")
	p.Message = fmt.Sprintf("%s, %s:%d: %s", in.name(), file, inChart.Line, inChart.Message)
	return p
}

// name returns the name of the chart for messages.
func (in *installed) name() string {
	if c := in.chart.chart; c != nil && c.Metadata != nil {
		return "chart " + c.Metadata.Name + " " + c.Metadata.Version
	}
	return "chart"
}

func (in *installed) hasUnknownReference() bool {
	for _, r := range in.root.Unit.Release.References {
		if r.Unknown != "" {
			return true
		}
	}
	return false
}
