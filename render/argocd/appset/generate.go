package appset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/tree"
)

// Input is the input of generating Applications.
type Input struct {
	// Tree contains the files for git generators.
	Tree *tree.Tree
	// Git returns the directory of the tree with the files of a revision of a repository.
	Git func(url, revision string) (top string, err error)
	// Clusters are the clusters registered in Argo CD, without its own; nil if they are not known.
	Clusters []Cluster
	// Given returns the parameters of a generator that only Argo CD can evaluate, by kind; ok is false if they are not
	// known.
	Given func(kind string) (params []map[string]any, ok bool)
}

// Generator has the configured parameters of the generators of a kind in an ApplicationSet, which only Argo CD can
// evaluate.
type Generator struct {
	// Set is the name of the ApplicationSet, or NAMESPACE/NAME. Kind is the kind of the generator, for example
	// pullRequest.
	Set, Kind  string
	Parameters []map[string]any
}

// ParametersOf returns the configured parameters of a kind of generator in an ApplicationSet; ok is false if there are
// none.
func ParametersOf(given []Generator, namespace, name, kind string) (all []map[string]any, ok bool) {
	for _, g := range given {
		if g.Kind == kind && (g.Set == name || g.Set == namespace+"/"+name) {
			all, ok = append(all, g.Parameters...), true
		}
	}
	return all, ok
}

// Cluster is a cluster registered in Argo CD.
type Cluster struct {
	Name        string            `json:"name"`
	Server      string            `json:"server"`
	Project     string            `json:"project,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Destination completes the server and the name of a destination from the registered clusters; whole is false if one of
// them is not known.
func Destination(d argocd.Destination, clusters []Cluster) (to argocd.Destination, whole bool) {
	if d.IsInCluster() {
		d.Name, d.Server = argocd.InCluster, argocd.InClusterServer
		return d, true
	}
	i := slices.IndexFunc(clusters, func(c Cluster) bool {
		return d.Name != "" && c.Name == d.Name || d.Server != "" && c.Server == d.Server
	})
	if i < 0 {
		return d, false
	}
	d.Name, d.Server = clusters[i].Name, clusters[i].Server
	return d, true
}

// Generated is a generated Application.
type Generated struct {
	// Object is the Application in JSON, with sorted keys.
	Object json.RawMessage
	// Repeated is set if the ApplicationSet generates more Applications with its name.
	Repeated bool

	set *set
	// group has the template, and params the parameters it was rendered with.
	group  *group
	params params
	// patch is the applied templatePatch after rendering; empty for none.
	patch string
}

// maxApplications limits the Applications of a set: matrix generators multiply.
const maxApplications = 5_000

// generator generates the Applications of one ApplicationSet.
type generator struct {
	Input
	set   *set
	trace tree.Trace
	made  int
	ctx   context.Context
	// engine executes Go templates, and used counts what they cost.
	engine *engine.Engine
	used   engine.Used
}

// params are the parameters of an Application.
type params struct {
	values map[string]any
	// from are the sources of the parameters; earlier ones override parameters of later ones.
	from []source
}

// group is a template with the parameters it is rendered with.
type group struct {
	params   []params
	template map[string]any
	// own is the generator's own template, and ownField its field; nil for none.
	own      map[string]any
	ownField string
}

// Generate returns the Applications of an ApplicationSet. An error is an *Error.
func Generate(ctx context.Context, object json.RawMessage, in Input) ([]Generated, error) {
	s, err := parse(object)
	if err != nil {
		return nil, errorf("spec", "%v", err)
	}
	g := &generator{Input: in, set: s, trace: tree.NewTrace(), ctx: ctx, engine: s.engine()}
	var all []Generated
	for i, requested := range s.Spec.Generators {
		groups, err := g.transform(requested, fmt.Sprintf("spec.generators[%d]", i), s.Spec.Template, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, group := range groups {
			for _, p := range group.params {
				made, err := g.fill(&group, p)
				if err != nil {
					return nil, err
				}
				all = append(all, made)
			}
		}
	}
	return unique(all), nil
}

// unique returns the first Application of each name. The controller applies none of several Applications with one name,
// and leaves one that is there as it is.
func unique(all []Generated) (first []Generated) {
	at := map[string]int{}
	for _, g := range all {
		var o struct {
			Metadata struct{ Name string } `json:"metadata"`
		}
		_ = json.Unmarshal(g.Object, &o) // preadmit encoded it
		if i, known := at[o.Metadata.Name]; known {
			first[i].Repeated = true
			continue
		}
		at[o.Metadata.Name] = len(first)
		first = append(first, g)
	}
	return first
}

// resourcesFinalizer makes Argo CD delete the objects of an Application with it.
const resourcesFinalizer = "resources-finalizer.argocd.argoproj.io"

// fill renders the template of a group with parameters.
func (g *generator) fill(in *group, p params) (Generated, error) {
	out := Generated{set: g.set, group: in, params: p}
	app := map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
	metadata := map[string]any{}
	from, _ := in.template["metadata"].(map[string]any)
	for _, field := range []string{"annotations", "labels", "name", "namespace", "finalizers"} {
		if value, ok := from[field]; ok {
			metadata[field] = value
		}
	}
	app["metadata"], app["spec"] = metadata, in.template["spec"]
	if len(p.values) > 0 {
		filled, err := g.replaceAll(app, p.values, g.set.Spec.GoTemplateOptions)
		if err != nil {
			return out, templateError("spec.template", err)
		}
		app, _ = filled.(map[string]any)
		metadata, _ = app["metadata"].(map[string]any)
		if finalizers, _ := metadata["finalizers"].([]any); len(finalizers) == 0 && !g.preserves() {
			metadata["finalizers"] = []any{resourcesFinalizer}
		}
	}
	if g.set.Spec.TemplatePatch != nil {
		patched, text, err := g.patch(app, p)
		if err != nil {
			return out, templateError("spec.templatePatch", err)
		}
		app, out.patch = patched, text
		var has bool
		if metadata, has = app["metadata"].(map[string]any); !has {
			return out, errorf("spec.templatePatch", "the Application has no metadata")
		}
	}
	if delete(metadata, "namespace"); g.set.Metadata.Namespace != "" {
		metadata["namespace"] = g.set.Metadata.Namespace
	}
	out.Object = tree.Encode(app)
	if _, err := argocd.Parse(out.Object); err != nil {
		field := "spec.template"
		if g.set.Spec.TemplatePatch != nil {
			field = "spec.templatePatch"
		}
		return out, errorf(field, "%v", err)
	}
	return out, nil
}

// templateError returns an error of a template. If the result is random, or exceeds a limit, it is not known, and the
// template may be correct: the error is then a refusal.
func templateError(field string, err error) error {
	if errors.As(err, new(*chanceError)) || errors.As(err, new(*limitError)) {
		return refusedf(field, "%v", err)
	}
	return errorf(field, "%v", err)
}

func (g *generator) preserves() bool {
	return g.set.Spec.SyncPolicy != nil && g.set.Spec.SyncPolicy.PreserveResourcesOnDeletion
}

// maxNested is how deep generators may be nested.
const maxNested = 4

// transform returns the parameters of a generator: one group for each kind of generator in its fields.
func (g *generator) transform(requested any, field string, template, outer map[string]any, depth int) ([]group, error) {
	fields, _ := requested.(map[string]any)
	if depth > maxNested {
		return nil, refusedf(field, "generators are nested more than %d deep", maxNested)
	}
	matches, err := selectorOf(fields["selector"])
	if err != nil {
		return nil, errorf(field+".selector", "error parsing label selector: %v", err)
	}
	var groups []group
	for _, kind := range slices.Sorted(maps.Keys(fields)) {
		if kind == "selector" || fields[kind] == nil {
			continue
		}
		own, _ := fields[kind].(map[string]any)
		content := any(own)
		if len(outer) > 0 {
			if content, err = g.interpolate(own, outer); err != nil {
				return nil, errorf(field, "failed to replace parameters in generator: %v", err)
			}
		}
		made, err := g.params(kind, content, field+"."+kind, depth)
		if err != nil {
			return nil, err
		}
		made = slices.DeleteFunc(made, func(p params) bool { return matches != nil && !matches(flattened(p.values)) })
		if g.made += len(made); g.made > maxApplications {
			return nil, refusedf(field, "the generators make more than %d sets of parameters", maxApplications)
		}
		in := group{params: made, template: template}
		if t, ok := own["template"].(map[string]any); ok && template != nil {
			in.template, _ = under(t, template).(map[string]any)
			in.own, in.ownField = t, field+"."+kind+".template"
		}
		groups = append(groups, in)
	}
	return groups, nil
}

// under returns a value whose empty fields are filled from below.
func under(over, below any) any {
	o, isMap := over.(map[string]any)
	b, both := below.(map[string]any)
	switch {
	case isMap && both:
		out := maps.Clone(o)
		for key, value := range b {
			if have, ok := out[key]; ok {
				out[key] = under(have, value)
			} else {
				out[key] = value
			}
		}
		return out
	case isEmpty(over):
		return below
	}
	return over
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// params returns the parameters of a generator of a kind.
func (g *generator) params(kind string, content any, field string, depth int) ([]params, error) {
	switch kind {
	case "list":
		return g.list(content, field)
	case "git":
		return g.git(content, field)
	case "matrix":
		return g.matrix(content, field, depth)
	case "merge":
		return g.merge(content, field, depth)
	case "clusters":
		return g.clusters(content, field)
	case "clusterDecisionResource", "scmProvider", "pullRequest", "plugin":
		return g.given(kind, content, field)
	}
	return nil, errorf(field, "ApplicationSet contains unrecognized generators: %s", kind)
}
