package gaps

import (
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/target"
)

// AssumedNamespace notes that objects of a root have no namespace, so that their verdicts are those
// for an assumed namespace: nothing in the repository defines which tool applies the root, and to
// which namespace. It does not apply to units: Helm and Argo CD set a namespace on such objects,
// and Flux does not apply them.
func (l *Ledger) AssumedNamespace(t *target.Target, root render.RootID, pairs []target.Pair) {
	if t.Namespace != "" || root.Object != (render.ObjectRef{}) {
		return
	}
	count, assumed := 0, ""
	for _, p := range pairs {
		if p.Key.Namespace != "" && p.Object().Namespace() == "" {
			count, assumed = count+1, p.Key.Namespace
		}
	}
	if count == 0 {
		return
	}
	g := l.gather("assumed namespace "+assumed, root.String(), count)
	what := "an object names"
	if g.count > 1 {
		what = fmt.Sprintf("%d objects name", g.count)
	}
	l.setMessage(g, fmt.Sprintf(
		"%s no namespace, so the verdicts are those of namespace %s; if they are applied in another, name it under targets in %s (namespace)",
		what, assumed, config.FileName))
}

// DeletedNamespaces returns warnings about Namespaces that pairs of a target delete while the head applies objects in
// them: the cluster deletes these too, and they cannot be created again before their Namespace is.
func DeletedNamespaces(t *target.Target, root render.RootID, pairs []target.Pair) []lines.Finding {
	var warnings []lines.Finding
	for _, p := range pairs {
		if p.Head != nil || p.Generated || p.Base == nil || p.Base.GroupVersionKind().GroupKind() != kinds.Namespace {
			continue
		}
		var names []string
		for _, r := range t.Head.Roots {
			for _, o := range t.Head.Applied(r) {
				if key := t.Head.Cluster.Key(o); key.Namespace == p.Key.Name {
					names = append(names, key.Kind+" "+key.Name)
				}
			}
		}
		if len(names) == 0 {
			continue
		}
		warnings = append(warnings, lines.Finding{
			Finding: report.Finding{
				Root:    root.String(),
				Message: fmt.Sprintf("the change deletes this Namespace, and with it everything in it, but %s still applied in it: %s", are(len(names), "object"), abbreviate(names)),
			},
			Subject: p.Base, Key: p.Key, Fields: []string{"metadata.name"},
		})
	}
	return warnings
}
