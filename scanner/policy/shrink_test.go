package policy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
)

// shrink removes parts of a scene that a difference does not need.
func shrink(t testing.TB, s scene, d difference) (scene, string) {
	s.requests = []admission.ClientRequest{d.client}
	text := d.text
	differs := func(candidate scene) bool {
		found := newComparison().scene(t, candidate)
		if len(found) > 0 {
			text = found[0].text
		}
		return len(found) > 0
	}
	s.policies = shrinkObjects(s.policies, func(o []*admission.Object) bool { c := s; c.policies = o; return differs(c) })
	s.state = shrinkObjects(s.state, func(o []*admission.Object) bool { c := s; c.state = o; return differs(c) })
	for i := range s.policies {
		keep := func(content any) bool {
			c := s
			c.policies = slices.Clone(s.policies)
			c.policies[i] = admission.NewObject(content.(map[string]any))
			return differs(c)
		}
		s.policies[i] = admission.NewObject(shrinkValue(s.policies[i].Content(), keep).(map[string]any))
	}
	differs(s)
	return s, text
}

// shrinkObjects removes objects one by one as long as the rest differs.
func shrinkObjects(all []*admission.Object, differs func([]*admission.Object) bool) []*admission.Object {
	for i := len(all) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(all), i, i+1); differs(fewer) {
			all = fewer
		}
	}
	return all
}

// needed are fields that every policy or binding must have.
var needed = []string{"apiVersion", "kind", "metadata", "name", "spec", "policyName", "expression", "key", "validationActions", "patchType", "jsonPatch", "applyConfiguration", "mutations"}

// shrinkValue removes fields and elements as long as differs is true for the whole.
func shrinkValue(value any, differs func(any) bool) any {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			fewer := maps.Clone(v)
			delete(fewer, key)
			if !slices.Contains(needed, key) && differs(fewer) {
				v = fewer
				continue
			}
			v = maps.Clone(v)
			v[key] = shrinkValue(v[key], func(inner any) bool {
				c := maps.Clone(v)
				c[key] = inner
				return differs(c)
			})
		}
		return v
	case []any:
		for i := len(v) - 1; i >= 0; i-- {
			if fewer := slices.Delete(slices.Clone(v), i, i+1); differs(fewer) {
				v = fewer
				continue
			}
			v = slices.Clone(v)
			v[i] = shrinkValue(v[i], func(inner any) bool {
				c := slices.Clone(v)
				c[i] = inner
				return differs(c)
			})
		}
		return v
	}
	return value
}

// show returns a scene as the files of a suite, to read and to keep under testdata/differences.
func show(s scene) string {
	var b strings.Builder
	for _, file := range []struct {
		name    string
		objects []*admission.Object
	}{{"context.yaml", s.state}, {"policies.yaml", s.policies}} {
		fmt.Fprintf(&b, "-- %s --\n", file.name)
		for i, o := range file.objects {
			if i > 0 {
				b.WriteString("---\n")
			}
			b.Write(asYAML(o.Content()))
		}
	}
	b.WriteString("-- requests.yaml --\n")
	var requests []any
	for i, in := range s.requests {
		request := map[string]any{"name": fmt.Sprint("r", i), "operation": string(in.Operation)}
		if in.Object != nil {
			request["object"] = in.Object.Content()
		}
		if in.OldObject != nil {
			request["oldObject"] = in.OldObject.Content()
		}
		if in.Subresource != "" {
			request["subresource"] = in.Subresource
		}
		if in.User != nil {
			request["user"] = map[string]any{"username": in.User.GetName(), "groups": in.User.GetGroups()}
		}
		requests = append(requests, request)
	}
	b.Write(asYAML(map[string]any{"requests": requests}))
	return b.String()
}

func asYAML(v any) []byte {
	text, err := yaml.Marshal(v)
	if err != nil {
		return []byte(fmt.Sprintf("# %v\n", err))
	}
	return text
}
