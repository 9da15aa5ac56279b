package rules

import (
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/builtins"
	"github.com/preadmit/preadmit/render/kustomize/padding"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// builtins returns the plugin configurations that a kustomization lists, in order.
func (l *locator) builtins(k *build.Kustomization) []*build.Kustomization {
	var out []*build.Kustomization
	for _, e := range l.closure.Entries {
		if e.From == k && e.Kind == build.RefPlugin && (len(e.At) == 0 || e.At[0] != "validators") {
			out = append(out, l.builtinsAt(k, e)...)
		}
	}
	return out
}

// builtinsAt returns the plugin configurations of an entry: inline text, a file, or the resources of a
// kustomization in a directory.
func (l *locator) builtinsAt(k *build.Kustomization, e build.Entry) []*build.Kustomization {
	if e.Target == "" || build.IsInline(e.Value) {
		return builtins.Read(k, k.Data, e.Value, func(text string, line int) *origin.Snippet { return padding.InlineSnippet(k, text, line, e.At) })
	}
	if to := l.tree.Resolve(e.Target); to.IsDir {
		var out []*build.Kustomization
		for _, inner := range l.closure.Entries {
			if inner.From.Dir == to.Real && inner.Kind == build.RefResource {
				out = append(out, l.builtinsAt(k, inner)...)
			}
		}
		return out
	}
	data, real, err := l.tree.Load(e.Target, tree.NewTrace())
	if err != nil {
		return nil
	}
	return builtins.Read(k, data, string(data), func(text string, line int) *origin.Snippet { return origin.NewSnippet(real, text, line) })
}
