package gaps

import (
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/config"
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
