package gaps

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
	"github.com/preadmit/preadmit/scanner/target"
)

// Ambiguities warns if roots define an object differently that decides verdicts on a root, so that the
// verdict depends on which of them are deployed to the same cluster. Of a policy every version judges;
// of a namespace, CustomResourceDefinition or param the first root's version is used.
func (l *Ledger) Ambiguities(t *target.Target, root render.RootID, pairs []target.Pair) {
	if len(t.Head.Ambiguous) == 0 {
		return
	}
	visible := []target.Visible{t.Head.VisiblePolicies(root), t.Head.VisibleMutations(root)}
	for _, key := range t.Head.Ambiguous {
		defs := t.Head.Visible(root, key)
		if len(defs) < 2 {
			continue
		}
		effect := ""
		switch kind := (schema.GroupKind{Group: key.Group, Kind: key.Kind}); {
		case kinds.IsPolicy(kind):
			effect = "each version judges the roots that do not define it themselves"
		case kind == kinds.Namespace && readsNamespace(key.Name, pairs, visible) && differ(defs, labelsOf):
			effect = fmt.Sprintf("for other roots it is the one of %s", defs[0].Roots[0])
		case kind == kinds.Definition && hasKind(pairs, defs[0].Object.Defined()) && differ(defs, specOf):
			effect = fmt.Sprintf("for other roots it is the one of %s", defs[0].Roots[0])
		case slices.ContainsFunc(visible, func(v target.Visible) bool { return takesParam(v, key) }):
			effect = fmt.Sprintf("for other roots it is the param of %s", defs[0].Roots[0])
		default:
			continue
		}
		l.Note(report.Diagnostic{Severity: "warning", Message: fmt.Sprintf(
			"%s is not the same in the roots %s and %s; %s: name the roots that belong together under targets in %s",
			key, defs[0].Roots[0], defs[1].Roots[0], effect, config.FileName)})
	}
}

// readsNamespace reports whether a policy reads the namespace of one of the pairs.
func readsNamespace(namespace string, pairs []target.Pair, visible []target.Visible) bool {
	return slices.ContainsFunc(pairs, func(p target.Pair) bool { return p.Key.Namespace == namespace }) &&
		slices.ContainsFunc(visible, func(v target.Visible) bool {
			by := written.ByPolicy(v.Bindings)
			return slices.ContainsFunc(v.Policies, func(p *admission.Object) bool { return written.SeesNamespaces(p, by[p.Name()]) })
		})
}

// hasKind reports whether one of the pairs is an object of a kind that is judged.
func hasKind(pairs []target.Pair, kind schema.GroupKind) bool {
	return slices.ContainsFunc(pairs, func(p target.Pair) bool {
		return !p.Same && p.Head != nil && p.Head.GroupVersionKind().GroupKind() == kind
	})
}

// differ reports whether a part of an object differs between its versions.
func differ(defs []target.Definition, part func(*admission.Object) any) bool {
	first := part(defs[0].Object)
	return slices.ContainsFunc(defs[1:], func(d target.Definition) bool { return !reflect.DeepEqual(first, part(d.Object)) })
}

// labelsOf returns the parts of a namespace that selectors and expressions can read.
func labelsOf(o *admission.Object) any {
	m, _ := o.Content()["metadata"].(map[string]any)
	return map[string]any{"labels": m["labels"], "annotations": m["annotations"]}
}

// specOf returns the part of a CustomResourceDefinition that affects verdicts on objects of its kind.
func specOf(o *admission.Object) any { return o.Content()["spec"] }

// takesParam reports whether a binding may use the object of key as the param of its policy.
func takesParam(v target.Visible, key admission.Key) bool {
	return slices.ContainsFunc(v.Bindings, func(b *admission.Object) bool {
		return written.MayTake(b, key) && slices.ContainsFunc(v.Policies, func(p *admission.Object) bool {
			kind, ok := written.ParamKind(p)
			return ok && p.Name() == written.BoundPolicy(b) && kind.Group == key.Group && kind.Kind == key.Kind
		})
	})
}
