package inflate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// Chart is an inflated chart.
type Chart struct {
	*build.Chart
	// Objects are in kustomize's order.
	Objects []*release.Object
	// Unchecked are the schemas that values were not checked against.
	Unchecked []string

	tree    *tree.Tree
	file    string
	given   *given
	release *release.Release
	// directories are the directories of the chart and its dependencies in the tree.
	directories chart.Directories
	rendered    *release.Rendered
	// lines are the first lines of the objects.
	lines []int
}

// Charts inflates the charts of a closure and stores their objects in it.
func Charts(ctx context.Context, t *tree.Tree, c *build.Closure, opts render.Options) ([]*Chart, *render.Problem) {
	var all []*Chart
	for i, entry := range c.Charts {
		if entry.IsAbsent() {
			continue
		}
		in := &Chart{Chart: entry, tree: t, file: c.ObjectsFile(i)}
		if err := in.render(ctx, opts); err != nil {
			return nil, in.problem(err)
		}
		all = append(all, in)
	}
	return all, nil
}

// Declared returns what the charts of a closure require of the cluster.
func Declared(t *tree.Tree, c *build.Closure, opts render.Options) (all []render.Declared) {
	for _, entry := range c.Charts {
		in := &Chart{Chart: entry, tree: t}
		if entry.IsAbsent() {
			continue
		}
		loaded, err := in.load()
		if err == nil {
			in.given, err = in.values(loaded, opts)
		}
		if err != nil {
			continue // rendering reports the error
		}
		var texts [][]byte
		for _, f := range in.given.files {
			texts = append(texts, f.Data)
		}
		all = append(all, loaded.Groups().Declared(texts...))
	}
	return all
}

// fieldError is an error in a field of the entry.
type fieldError struct {
	at      tree.Position
	refused bool
	error
}

func (c *Chart) wrong(field, format string, args ...any) error {
	return &fieldError{at: c.Field(field), error: fmt.Errorf(format, args...)}
}

// problem converts an error to a problem.
func (c *Chart) problem(err error) *render.Problem {
	if p := render.OverLimit(err); p != nil {
		return p
	}
	p := &render.Problem{Kind: render.ProblemFailed, Position: c.Position, Message: fmt.Sprintf("chart %s: %v", c.Name, err)}
	if limit := new(chart.LimitError); errors.As(err, &limit) {
		p.Kind = render.ProblemRefused
	}
	if field := new(fieldError); errors.As(err, &field) {
		p.Position = field.at
		if field.refused {
			p.Kind = render.ProblemRefused
		}
	}
	if in := new(release.Problem); errors.As(err, &in) {
		if in.Refused {
			p.Kind = render.ProblemRefused
		}
		if name, ok := c.directories.Path(in.Chart, in.File); ok {
			p.Position, p.Message = tree.Position{Path: name, Line: in.Line}, fmt.Sprintf("chart %s: %s", c.Name, in.Message)
		}
	}
	return p
}

// render renders the chart as `helm template` does.
func (c *Chart) render(ctx context.Context, opts render.Options) error {
	loaded, err := c.load()
	if err != nil {
		return err
	}
	c.directories = loaded.Directories
	if c.given, err = c.values(loaded, opts); err != nil {
		return err
	}
	user, err := values.FromCommandLine(c.given.files, nil)
	if err != nil {
		return err
	}
	served := c.ApiVersions
	if opts.ChartAPIVersions != nil {
		served = opts.ChartAPIVersions
	}
	capabilities, err := values.Capabilities(cmp.Or(opts.ChartKubeVersion, c.KubeVersion), served)
	if err != nil {
		return c.wrong("kubeVersion", "%w", err)
	}
	name, err := c.releaseName(ctx)
	if err != nil {
		return err
	}
	c.release = &release.Release{
		Chart: loaded, Values: user, Capabilities: capabilities, KindsKnown: !opts.ChartKinds, Template: true, SkipCRDs: !c.IncludeCRDs, SkipHooks: c.SkipHooks,
		Release: values.Release{Name: name, Namespace: c.Namespace},
		Options: engine.Options{Seed: c.From.Path + " " + c.Name},
	}
	if c.Namespace == "" {
		c.release.Namespace = "default"
	}
	rendered, err := c.release.Render(ctx)
	if err != nil {
		return err
	}
	c.Unchecked, c.rendered = rendered.Unchecked, rendered
	hooks := slices.DeleteFunc(rendered.Hooks, func(o *release.Object) bool { return c.SkipTests && slices.Contains(o.Events, "test") })
	c.Objects = slices.Concat(rendered.CRDs, rendered.Objects, hooks)
	c.write()
	return nil
}

// load reads the chart and checks that it can be installed.
func (c *Chart) load() (*release.Chart, error) {
	id := c.Digest
	if c.Dir != "" {
		read, err := chart.FromTree(c.tree, c.Dir, chart.Limits{})
		if err != nil {
			return nil, fmt.Errorf("the chart in %s cannot be read: %w", c.Dir, err)
		}
		made := release.NewChart(read)
		made.Directories.Add(read, c.Dir)
		return installable(made)
	}
	if known, ok := c.tree.Parsed("inflated chart", id); ok {
		return installable(known.(*release.Chart))
	}
	read, err := chart.FromArtifact(c.tree, c.Artifact.Requested(), c.Digest, chart.Limits{})
	if err != nil {
		return nil, err
	}
	return installable(c.tree.KeepParsed("inflated chart", id, release.NewChart(read)).(*release.Chart))
}

// installable returns an error for a chart that Helm does not render: a library chart, or one without all its
// dependencies.
func installable(c *release.Chart) (*release.Chart, error) {
	if err := chart.Installable(c.Chart); err != nil {
		return nil, err
	}
	return c, chart.Complete(c.Chart)
}

// releaseName returns the name that `helm template` gives to the release.
func (c *Chart) releaseName(ctx context.Context) (string, error) {
	switch {
	case c.ReleaseName != "" && c.NameTemplate != "":
		return "", c.wrong("nameTemplate", "cannot set --name-template and also specify a name")
	case c.ReleaseName != "":
		return c.ReleaseName, nil
	case c.NameTemplate == "":
		return "release-name", nil
	}
	name, chance, err := engine.Name(ctx, c.NameTemplate)
	if err != nil {
		return "", c.wrong("nameTemplate", "%w", err)
	}
	if chance {
		return "", &fieldError{c.Field("nameTemplate"), true, errors.New("the name of the release is made by chance")}
	}
	return name, nil
}

// write stores the text that kustomize reads: the documents as the templates output them.
func (c *Chart) write() {
	var text bytes.Buffer
	line := 1
	for _, o := range c.Objects {
		document := textOf(o)
		c.lines = append(c.lines, line+1)
		line += 1 + strings.Count(document, "\n")
		text.WriteString("---\n" + document)
	}
	c.Text = text.Bytes()
}

// textOf returns the document of an object.
func textOf(o *release.Object) string {
	document := string(o.JSON) // from crds/, JSON is YAML too
	if o.Document != nil {
		document = strings.TrimPrefix(o.Document.Text, "\ufeff")
	}
	return strings.TrimSuffix(document, "\n") + "\n"
}

// ownValues returns the path of the chart's values.yaml in the tree; "" if the chart is not in the tree.
func (c *Chart) ownValues() string {
	if c.Dir == "" {
		return ""
	}
	return path.Join(c.Dir, "values.yaml")
}
