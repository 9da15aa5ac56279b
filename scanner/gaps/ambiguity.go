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

// Ambiguities warns where what a root looks up is defined differently by other
// roots, so that the verdict depends on which of them is deployed beside it. Every
// version of a policy judges; of a namespace, CustomResourceDefinition or param the first root's counts.
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
		case kind == kinds.Namespace && looksInto(key.Name, pairs, visible) && differ(defs, labelsOf):
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

// looksInto reports whether a policy looks at the namespace of one of the pairs.
func looksInto(namespace string, pairs []target.Pair, visible []target.Visible) bool {
	return slices.ContainsFunc(pairs, func(p target.Pair) bool { return p.Key.Namespace == namespace }) &&
		slices.ContainsFunc(visible, func(v target.Visible) bool {
			by := written.ByPolicy(v.Bindings)
			return slices.ContainsFunc(v.Policies, func(p *admission.Object) bool { return written.SeesNamespaces(p, by[p.Name()]) })
		})
}

// hasKind reports whether an object of a kind is judged.
func hasKind(pairs []target.Pair, kind schema.GroupKind) bool {
	return slices.ContainsFunc(pairs, func(p target.Pair) bool {
		return !p.Same && p.Head != nil && p.Head.GroupVersionKind().GroupKind() == kind
	})
}

// differ reports whether versions of an object differ in a part of it.
func differ(defs []target.Definition, part func(*admission.Object) any) bool {
	first := part(defs[0].Object)
	return slices.ContainsFunc(defs[1:], func(d target.Definition) bool { return !reflect.DeepEqual(first, part(d.Object)) })
}

// labelsOf is what selectors and expressions can see of a namespace.
func labelsOf(o *admission.Object) any {
	m, _ := o.Content()["metadata"].(map[string]any)
	return map[string]any{"labels": m["labels"], "annotations": m["annotations"]}
}

// specOf is what decides about objects of the kind that a CustomResourceDefinition defines.
func specOf(o *admission.Object) any { return o.Content()["spec"] }

// takesParam reports whether a binding may take the object of key for its policy.
func takesParam(v target.Visible, key admission.Key) bool {
	return slices.ContainsFunc(v.Bindings, func(b *admission.Object) bool {
		return written.MayTake(b, key) && slices.ContainsFunc(v.Policies, func(p *admission.Object) bool {
			kind, ok := written.ParamKind(p)
			return ok && p.Name() == written.BoundPolicy(b) && kind.Group == key.Group && kind.Kind == key.Kind
		})
	})
}
