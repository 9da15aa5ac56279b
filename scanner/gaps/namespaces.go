package gaps

import (
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/target"
)

// AssumedNamespace notes that objects of a root name no namespace, so that the verdicts
// on them are those of the namespace which is assumed: nothing in the repository says who
// applies the root, and where.
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
	what := "an object names"
	if count > 1 {
		what = fmt.Sprintf("%d objects name", count)
	}
	l.Note(report.Diagnostic{Severity: "note", Root: root.String(), Message: fmt.Sprintf(
		"%s no namespace, so the verdicts are those of namespace %s; if they are applied in another, name it under targets in %s (namespace)",
		what, assumed, config.FileName)})
}
