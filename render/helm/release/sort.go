package release

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/kustomize/api/resource"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
)

// objects makes the objects and hooks of the templates' output.
func (r *Release) objects(rendered *Rendered) error {
	return r.become(documents(rendered.Files), rendered)
}

// become adds the objects and hooks of documents to rendered.
func (r *Release) become(all []*Document, rendered *Rendered) error {
	for _, group := range r.groups(all) {
		made, err := group.objects()
		if err != nil {
			return err
		}
		for _, object := range made {
			r.sortIn(object, rendered)
		}
	}
	inOrder(rendered.Objects)
	inOrder(rendered.Hooks)
	return nil
}

// group is a list of documents that pass post-renderers together, and the release with these post-renderers.
type group struct {
	documents []*Document
	release   *Release
}

// objects returns the objects made of a group's documents.
func (g group) objects() ([]*Object, error) {
	made, plain, err := g.direct()
	if plain || err != nil {
		return made, err
	}
	stream, err := merge(g.documents)
	if err != nil {
		return nil, err
	}
	resources, err := g.release.postRender(stream, len(g.documents))
	if err != nil {
		return nil, err
	}
	for i, resource := range resources.Resources() {
		object, err := objectOf(resource, fmt.Sprintf("generated-by-postrender-%d.yaml", i), g.documents)
		if err != nil {
			return nil, err
		}
		made = append(made, object)
	}
	return made, nil
}

// groups groups documents that pass post-renderers together, by the strategy.
func (r *Release) groups(all []*Document) []group {
	if r.Strategy == "" || r.Strategy == "combined" {
		return []group{{all, r}}
	}
	var hooks, others []*Document
	for _, d := range all {
		if d.isHook() {
			hooks = append(hooks, d)
		} else {
			others = append(others, d)
		}
	}
	if r.Strategy == "separate" {
		return []group{{hooks, r}, {others, r}}
	}
	return []group{{hooks, &Release{Plain: true}}, {others, r}}
}

func objectOf(resource *resource.Resource, name string, all []*Document) (*Object, error) {
	object := &Object{File: name}
	name, document, err := takeMark(&resource.RNode)
	if err != nil {
		return nil, err
	}
	if document >= 0 && document < len(all) {
		object.File, object.Document = name, all[document]
	}
	text, err := resource.AsYAML()
	if err == nil {
		text, err = sigsyaml.YAMLToJSON(text)
	}
	if err != nil {
		return nil, &Problem{File: object.File, Line: 1, Message: fmt.Sprintf("an object cannot be read: %v", err)}
	}
	object.decoded = (&render.Object{JSON: text}).Content()
	return object, nil
}

// sortIn adds an object to the hooks or to the other objects. It drops a hook with an unknown event, which is
// never applied.
func (r *Release) sortIn(o *Object, rendered *Rendered) {
	content := o.decoded
	defer func() {
		o.kind, _ = render.KindAndName(content)
		o.JSON, o.decoded = encode(content), nil
	}()
	annotations := nested(content, "metadata", "annotations")
	hook, ok := annotations[helmrelease.HookAnnotation].(string)
	if !ok {
		if !r.Template {
			own(content, r)
		}
		rendered.Objects = append(rendered.Objects, o)
		return
	}
	weight, _ := annotations[helmrelease.HookWeightAnnotation].(string)
	o.Weight, _ = strconv.Atoi(weight)
	o.Policies = deletePolicies(annotations)
	for event := range strings.SplitSeq(hook, ",") {
		event = strings.ToLower(strings.TrimSpace(event))
		if event == "test-success" {
			event = helmrelease.HookTest.String()
		}
		if !slices.Contains(events, event) {
			return
		}
		o.Events = append(o.Events, event)
	}
	if !r.SkipHooks {
		rendered.Hooks = append(rendered.Hooks, o)
	}
}

// deletePolicies returns the policies of a hook: Helm's default if there is none, else those written, which
// may include unknown ones.
func deletePolicies(annotations map[string]any) (all []string) {
	written, ok := annotations[helmrelease.HookDeleteAnnotation].(string)
	if !ok {
		return []string{helmrelease.HookBeforeHookCreation.String()}
	}
	for policy := range strings.SplitSeq(written, ",") {
		all = append(all, strings.ToLower(strings.TrimSpace(policy)))
	}
	return all
}

// events are the valid events of hooks.
var events = []string{
	helmrelease.HookPreInstall.String(), helmrelease.HookPostInstall.String(), helmrelease.HookPreDelete.String(), helmrelease.HookPostDelete.String(),
	helmrelease.HookPreUpgrade.String(), helmrelease.HookPostUpgrade.String(), helmrelease.HookPreRollback.String(), helmrelease.HookPostRollback.String(),
	helmrelease.HookTest.String(),
}

// own adds the metadata that Helm adds to an object of a release when it applies it.
func own(content map[string]any, r *Release) {
	metadata := field(content, "metadata")
	field(metadata, "labels")["app.kubernetes.io/managed-by"] = "Helm"
	annotations := field(metadata, "annotations")
	annotations["meta.helm.sh/release-name"] = r.Name
	annotations["meta.helm.sh/release-namespace"] = r.Namespace
}

// field returns a mapping in a mapping, and creates it if it is missing.
func field(m map[string]any, key string) map[string]any {
	inner, ok := m[key].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[key] = inner
	}
	return inner
}

func nested(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// inOrder sorts objects in Helm's order of application: by kind, then by template.
func inOrder(objects []*Object) {
	slices.SortStableFunc(objects, func(a, b *Object) int { return strings.Compare(a.File, b.File) })
	slices.SortStableFunc(objects, func(a, b *Object) int {
		ra, rb := rank(a.kind), rank(b.kind)
		if ra == rb && ra == len(util.InstallOrder) {
			return strings.Compare(a.kind, b.kind)
		}
		return cmp.Compare(ra, rb)
	})
}

// rank returns the position of a kind in Helm's order, the last for unknown kinds.
func rank(kind string) int {
	if i := slices.Index(util.InstallOrder, kind); i >= 0 {
		return i
	}
	return len(util.InstallOrder)
}
