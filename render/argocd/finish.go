package argocd

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/scope"
	"github.com/preadmit/preadmit/render/tree"
)

// finished are the objects of a unit in the form in which they are applied.
type finished struct {
	objects     []*render.Object
	diagnostics []render.Diagnostic
	// from are the indexes of the objects among all objects of the parts.
	from []int
}

// identity is the identity of an object for the controller. Objects with generateName are all different.
type identity struct{ group, kind, namespace, name string }

// finish does what the controller does with the objects of all parts: it expands lists, sets namespaces, drops repeated
// objects except for the last one, and sets labels and annotations of the Application.
func (u *unit) finish(all []*made) *finished {
	out := &finished{}
	var objects []*render.Object
	for _, m := range all {
		objects = append(objects, m.objects...)
		out.diagnostics = append(out.diagnostics, m.diagnostics...)
	}
	scopes := u.scopes(objects)
	contents := make([]map[string]any, len(objects))
	last, ids := map[identity]int{}, make([]identity, len(objects))
	for i, o := range objects {
		contents[i] = o.Content()
		u.namespace(contents[i], scopes)
		ids[i] = identityOf(contents[i], i)
		last[ids[i]] = i
	}
	repeated := map[identity]bool{}
	for i, o := range objects {
		if last[ids[i]] != i {
			if !repeated[ids[i]] {
				out.diagnostics = append(out.diagnostics, u.repeated(ids[i]))
			}
			repeated[ids[i]] = true
			continue
		}
		if u.isExcluded(contents[i]) {
			out.diagnostics = append(out.diagnostics, u.excluded(ids[i]))
			continue
		}
		u.track(contents[i])
		made := &render.Object{JSON: tree.Encode(contents[i]), Index: len(out.objects), Unknown: o.Unknown}
		made.Role, made.Hook = roleOf(contents[i], o.Role)
		made.Unknown = append(made.Unknown[:len(made.Unknown):len(made.Unknown)], unknownFields(made)...)
		out.objects, out.from = append(out.objects, made), append(out.from, i)
	}
	if n := u.createdNamespace(out.objects); n != nil {
		out.objects = append(out.objects, n)
	}
	return out
}

func (u *unit) repeated(id identity) render.Diagnostic {
	return render.Diagnostic{
		Severity: render.SeverityWarning, Position: u.written(u.app.SourceField(0)),
		Message: fmt.Sprintf("%s/%s/%s appears several times among the resources of the Application: the last one is applied (RepeatedResourceWarning)", id.kind, id.namespace, id.name),
	}
}

func metadataOf(content map[string]any) map[string]any {
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		content["metadata"] = metadata
	}
	return metadata
}

func groupKindOf(content map[string]any) (group, version, kind string) {
	apiVersion, _ := content["apiVersion"].(string)
	kind, _ = content["kind"].(string)
	if g, v, ok := strings.Cut(apiVersion, "/"); ok {
		return g, v, kind
	}
	return "", apiVersion, kind
}

func identityOf(content map[string]any, i int) identity {
	group, _, kind := groupKindOf(content)
	metadata := metadataOf(content)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	if generate, _ := metadata["generateName"].(string); name == "" && generate != "" {
		name = fmt.Sprintf("%s%d", generate, i)
	}
	return identity{group, kind, namespace, name}
}

// namespace sets the namespace of the destination if an object has none. It removes the namespace of cluster-scoped
// kinds. Unknown kinds are assumed to be namespaced.
func (u *unit) namespace(content map[string]any, scopes map[groupKind]bool) {
	group, _, kind := groupKindOf(content)
	metadata := metadataOf(content)
	apiVersion, _ := content["apiVersion"].(string)
	namespaced, known := scope.Namespaced(apiVersion, kind)
	if !known {
		if namespaced, known = scopes[groupKind{group, kind}]; !known {
			namespaced = !scope.IsClusterScoped(group, kind)
		}
	}
	own, _ := metadata["namespace"].(string)
	switch {
	case !namespaced:
		delete(metadata, "namespace")
	case own == "" && u.app.Spec.Destination.Namespace != "":
		metadata["namespace"] = u.app.Spec.Destination.Namespace
	case own == "":
		delete(metadata, "namespace")
	}
}

type groupKind struct{ group, kind string }

// scopes tells whether known custom kinds are namespaced.
func (u *unit) scopes(objects []*render.Object) map[groupKind]bool {
	known := map[groupKind]bool{}
	for _, d := range u.root.Unit.Application.Definitions {
		known[groupKind{d.Group, d.Kind}] = d.Namespaced
	}
	for _, o := range objects {
		if d, ok := render.DefinitionOf(o.JSON); ok {
			known[groupKind{d.Group, d.Kind}] = d.Namespaced
		}
	}
	return known
}
