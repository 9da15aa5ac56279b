package appset

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// list returns the parameters of a list generator.
func (g *generator) list(content any, field string) ([]params, error) {
	spec, err := as[struct {
		Elements     []map[string]any `json:"elements"`
		ElementsYAML string           `json:"elementsYaml"`
	}](content)
	if err != nil {
		return nil, errorf(field, "%v", err)
	}
	var all []params
	for i, element := range spec.Elements {
		at := fmt.Sprintf("%s.elements[%d]", field, i)
		values := element
		if !g.set.Spec.GoTemplate {
			if values, err = texts(element); err != nil {
				return nil, errorf(at, "%v", err)
			}
		}
		all = append(all, params{values, []source{{kind: "list", field: at}}})
	}
	if spec.ElementsYAML == "" {
		return all, nil
	}
	var more []map[string]any
	if err := yaml.Unmarshal([]byte(spec.ElementsYAML), &more); err != nil {
		return nil, errorf(field+".elementsYaml", "error unmarshling decoded ElementsYaml: %v", err)
	}
	for i, values := range more {
		if values == nil {
			values = map[string]any{}
		}
		all = append(all, params{values, []source{{field: field + ".elementsYaml", text: spec.ElementsYAML, index: i}}})
	}
	return all, nil
}

// texts returns the parameters of a list element: strings, and those in `values`.
func texts(element map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for key, value := range element {
		nested, isMap := value.(map[string]any)
		if key != "values" {
			nested, isMap = map[string]any{key: value}, true
		}
		if !isMap {
			return nil, fmt.Errorf("error parsing values map")
		}
		for name, v := range nested {
			text, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("error parsing value as string: %s is none (it takes goTemplate: true)", name)
			}
			if key == "values" {
				name = "values." + name
			}
			out[name] = text
		}
	}
	return out, nil
}

// nested returns the generators and the merge keys of a matrix or merge generator.
func (g *generator) nested(content any, field, kind string) ([]any, []string, error) {
	spec, err := as[struct {
		Generators []any    `json:"generators"`
		MergeKeys  []string `json:"mergeKeys"`
	}](content)
	switch {
	case err != nil:
		return nil, nil, errorf(field, "%v", err)
	case len(spec.Generators) < 2:
		return nil, nil, errorf(field+".generators", "found less than two generators, %s supports two or more", kind)
	case kind == "Matrix" && len(spec.Generators) > 2:
		return nil, nil, errorf(field+".generators", "found more than two generators, Matrix supports only two")
	}
	return spec.Generators, spec.MergeKeys, nil
}

// only returns the parameters of a nested generator, which must have a single kind.
func (g *generator) only(requested any, field string, outer map[string]any, depth int) ([]params, error) {
	groups, err := g.transform(requested, field, nil, outer, depth+1)
	switch {
	case err != nil:
		return nil, err
	case len(groups) == 0:
		return nil, errorf(field, "child generator generated no parameters")
	case len(groups) > 1:
		return nil, errorf(field, "found more than one generator inside of a generator: only one is supported")
	}
	return groups[0].params, nil
}

// matrix combines the parameters of two generators. The second may use parameters of the first.
func (g *generator) matrix(content any, field string, depth int) ([]params, error) {
	generators, _, err := g.nested(content, field, "Matrix")
	if err != nil {
		return nil, err
	}
	first, err := g.only(generators[0], field+".generators[0]", nil, depth)
	if err != nil {
		return nil, err
	}
	var all []params
	for _, a := range first {
		second, err := g.only(generators[1], field+".generators[1]", a.values, depth)
		if err != nil {
			return nil, err
		}
		for _, b := range second {
			values, err := g.combine(a.values, b.values)
			if err != nil {
				return nil, errorf(field, "%v", err)
			}
			all = append(all, params{values, slices.Concat(a.from, b.from)})
		}
		if len(all) > maxApplications {
			return nil, refusedf(field, "the generators make more than %d sets of parameters", maxApplications)
		}
	}
	return all, nil
}

// combine merges the parameters of two generators.
func (g *generator) combine(a, b map[string]any) (map[string]any, error) {
	if g.set.Spec.GoTemplate {
		return override(b, a), nil
	}
	out := maps.Clone(a)
	for key, value := range b {
		if have, ok := out[key]; ok && fmt.Sprint(have) != fmt.Sprint(value) {
			return nil, fmt.Errorf("found duplicate key %s with different value, a: %v ,b: %v", key, have, value)
		}
		out[key] = value
	}
	return out, nil
}

// override merges over into under. Mappings are merged, and empty values override nothing.
func override(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range over {
		have, there := out[key]
		o, isMap := value.(map[string]any)
		u, both := have.(map[string]any)
		switch {
		case isMap && both:
			out[key] = override(u, o)
		case !there || !isEmpty(value):
			out[key] = value
		}
	}
	return out
}

// merge merges the parameters of the other generators into those of the first that have the same keys.
func (g *generator) merge(content any, field string, depth int) ([]params, error) {
	generators, keys, err := g.nested(content, field, "Merge")
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errorf(field+".mergeKeys", "no merge keys were specified, Merge requires at least one")
	}
	var base []params
	places := map[string]int{}
	for i, requested := range generators {
		at := fmt.Sprintf("%s.generators[%d]", field, i)
		all, err := g.only(requested, at, nil, depth)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for _, p := range all {
			key := keyOf(p.values, keys)
			if seen[key] {
				return nil, errorf(at, "the parameters from a generator were not unique by the given mergeKeys, Merge requires all param sets to be unique. Duplicate key was %s", key)
			}
			seen[key] = true
			at, known := places[key]
			switch {
			case i == 0:
				places[key] = len(base)
				base = append(base, p)
			case known && g.set.Spec.GoTemplate:
				base[at] = params{override(base[at].values, p.values), append(p.from, base[at].from...)}
			case known:
				values := maps.Clone(base[at].values)
				maps.Copy(values, p.values)
				base[at] = params{values, append(p.from, base[at].from...)}
			}
		}
	}
	return base, nil
}

func keyOf(values map[string]any, keys []string) string {
	of := map[string]any{}
	for _, key := range keys {
		of[key] = values[key]
	}
	return string(encode(of))
}

// clusters returns the parameters of a cluster generator.
func (g *generator) clusters(content any, field string) ([]params, error) {
	spec, err := as[struct {
		Selector any               `json:"selector"`
		Values   map[string]string `json:"values"`
		FlatList bool              `json:"flatList"`
	}](content)
	if err != nil {
		return nil, errorf(field, "%v", err)
	}
	if g.Clusters == nil {
		return nil, refusedf(field, "which clusters Argo CD knows is not known: `argocd.clusters` in the configuration lists them")
	}
	matches, err := selectorOf(spec.Selector)
	if err != nil {
		return nil, errorf(field+".selector", "error converting label selector: %v", err)
	}
	var all []params
	local := matches == nil
	for _, c := range g.Clusters {
		labels := map[string]string{"argocd.argoproj.io/secret-type": "cluster"}
		maps.Copy(labels, c.Labels)
		if matches != nil && !matches(labels) {
			continue
		}
		local = local && c.Server != "https://kubernetes.default.svc"
		all = append(all, params{values: g.cluster(c, labels)})
	}
	if local {
		all = append(all, params{values: map[string]any{"name": "in-cluster", "nameNormalized": "in-cluster", "server": "https://kubernetes.default.svc", "project": ""}})
	}
	flat := []any{}
	for i := range all {
		all[i].from = []source{{field: field}}
		if err := g.appendValues(spec.Values, all[i].values); err != nil {
			return nil, errorf(field+".values", "%v", err)
		}
		flat = append(flat, all[i].values)
	}
	if spec.FlatList {
		return []params{{map[string]any{"clusters": flat}, []source{{field: field}}}}, nil
	}
	return all, nil
}

// ownAnnotations are the annotations of a cluster's Secret that Argo CD and kubectl use internally.
var ownAnnotations = []string{
	"argocd.argoproj.io/refresh", "argocd.argoproj.io/hydrate", "argocd.argoproj.io/tracking-id",
	"argocd.argoproj.io/installation-id", "kubectl.kubernetes.io/last-applied-configuration",
}

// cluster returns the parameters of a cluster. Labels and annotations are of type map[string]string, for which `index`
// in a template returns an empty string if a key is missing.
func (g *generator) cluster(c Cluster, labels map[string]string) map[string]any {
	annotations := map[string]string{}
	for key, value := range c.Annotations {
		if !slices.Contains(ownAnnotations, key) {
			annotations[key] = value
		}
	}
	values := map[string]any{"name": c.Name, "nameNormalized": sanitize(c.Name), "server": c.Server, "project": c.Project}
	if g.set.Spec.GoTemplate {
		metadata := map[string]any{"labels": labels}
		if len(c.Annotations) > 0 {
			metadata["annotations"] = annotations
		}
		values["metadata"] = metadata
		return values
	}
	for key, value := range annotations {
		values["metadata.annotations."+key] = value
	}
	for key, value := range labels {
		values["metadata.labels."+key] = value
	}
	return values
}

// given returns the parameters of a generator whose results must be configured.
func (g *generator) given(kind string, content any, field string) ([]params, error) {
	var found []map[string]any
	ok := false
	if g.Given != nil {
		found, ok = g.Given(kind)
	}
	if !ok {
		return nil, refusedf(field, "the results of a %s generator are not in the repository: add its parameters to `argocd.generators` in the configuration", kind)
	}
	spec, err := as[struct {
		Values map[string]string `json:"values"`
	}](content)
	if err != nil {
		return nil, errorf(field, "%v", err)
	}
	var all []params
	for _, values := range found {
		if values = maps.Clone(values); values == nil {
			values = map[string]any{}
		}
		if err := g.appendValues(spec.Values, values); err != nil {
			return nil, errorf(field+".values", "%v", err)
		}
		all = append(all, params{values, []source{{field: field}}})
	}
	return all, nil
}
