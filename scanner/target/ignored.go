package target

import (
	"maps"
	"slices"
	"strconv"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// LeaveIgnored marks as unknown the fields that updates of a root's objects do not set: others may have
// written them in the cluster, whatever the manifests contain. A field that neither manifest has is taken to
// be absent, except in a list that is left alone for a field of an item. A field that was ignored at base and
// is not at head is unknown in the old object only. base and head are the root on both sides, nil where it
// does not exist.
func LeaveIgnored(base, head *change.Rendered, pairs []Pair) []Pair {
	was, is := ignoredOf(base), ignoredOf(head)
	if len(was) == 0 && len(is) == 0 {
		return pairs
	}
	for i := range pairs {
		if p := &pairs[i]; p.Operation() == apiserver.Update {
			leaveIgnored(is, p)
			markFormerlyIgnored(was, p)
		}
	}
	return pairs
}

// ignoredOf returns the fields that updates of a root's objects do not set.
func ignoredOf(r *change.Rendered) []render.Ignored {
	if r == nil || r.Root.Unit == nil {
		return nil
	}
	return r.Root.Unit.Apply.Ignored
}

// markFormerlyIgnored marks as unknown, in the old object, the fields that were ignored at base and that the
// update sets.
func markFormerlyIgnored(was []render.Ignored, p *Pair) {
	base, head := p.Base.Content(), p.Head.Content()
	var fields []render.Unknown
	kind := p.Head.GroupVersionKind()
	for _, f := range was {
		if !f.Matches(kind.Group, kind.Kind, p.Head.Namespace(), p.Head.Name()) {
			continue
		}
		for _, path := range ignoredPaths(f, base, head) {
			path, _ = wholeList(kind, path, base, head)
			after := render.ValueAt(head, path)
			covers := func(u render.Unknown) bool {
				return len(u.Path) <= len(path) && slices.Equal(u.Path, path[:len(u.Path)])
			}
			if after == nil || isIdentity(path) || slices.ContainsFunc(p.Head.Unknown, covers) || slices.ContainsFunc(fields, covers) {
				continue
			}
			if render.ValueAt(base, path) == nil {
				base = with(base, path, after).(map[string]any)
			}
			fields = append(fields, render.Unknown{Path: path, Reason: f.Reason})
		}
	}
	if len(fields) > 0 {
		p.Base, p.Same = withUnknown(p.Base, base, fields), false
	}
}

func leaveIgnored(ignored []render.Ignored, p *Pair) {
	base, head := p.Base.Content(), p.Head.Content()
	var fields []render.Unknown
	kind := p.Head.GroupVersionKind()
	for _, f := range ignored {
		if !f.Matches(kind.Group, kind.Kind, p.Head.Namespace(), p.Head.Name()) {
			continue
		}
		for _, path := range ignoredPaths(f, base, head) {
			path, isList := wholeList(kind, path, base, head)
			before, after := render.ValueAt(base, path), render.ValueAt(head, path)
			if before == nil && after == nil || isIdentity(path) || slices.ContainsFunc(fields, func(u render.Unknown) bool { return slices.Equal(u.Path, path) }) {
				continue
			}
			if before == nil {
				base = with(base, path, after).(map[string]any)
			} else if after == nil || f.Exact && !isList {
				head = with(head, path, before).(map[string]any)
			}
			reason := f.Reason
			if isList {
				reason = "ignoreDifferences leaves a field of an item to others, and Argo CD the whole list with it"
			}
			fields = append(fields, render.Unknown{Path: path, Reason: reason})
		}
	}
	if len(fields) > 0 {
		p.Base, p.Head = withUnknown(p.Base, base, fields), withUnknown(p.Head, head, fields)
		p.Same = p.Same || !p.Resumed && change.Equal(p.Base, p.Head)
	}
}

// ignoredPaths returns the paths that are ignored in either object.
func ignoredPaths(f render.Ignored, base, head map[string]any) [][]string {
	if len(f.Path) == 0 {
		return below(base, head)
	}
	return expand(f.Path, base, head)
}

// withUnknown returns an object with other content and additional unknown fields.
func withUnknown(o *admission.Object, content map[string]any, fields []render.Unknown) *admission.Object {
	left := admission.NewObject(content)
	left.Tag, left.Unknown = o.Tag, slices.Concat(o.Unknown, fields)
	return left
}

// isIdentity reports whether a path leads to a field that identifies an object, which is never ignored.
func isIdentity(path []string) bool {
	return len(path) == 1 && slices.Contains([]string{"apiVersion", "kind", "metadata"}, path[0]) ||
		len(path) == 2 && path[0] == "metadata" && slices.Contains([]string{"name", "namespace"}, path[1])
}

// below returns the paths of all fields of the objects, and of their metadata.
func below(objects ...map[string]any) (paths [][]string) {
	for _, o := range objects {
		metadata, _ := o["metadata"].(map[string]any)
		for key := range metadata {
			paths = append(paths, []string{"metadata", key})
		}
		for key := range o {
			paths = append(paths, []string{key})
		}
	}
	return sorted(paths)
}

// expand returns the paths in either object that match a path with render.AnyItem. The part of the
// path below a missing value is kept as it is.
func expand(path []string, objects ...map[string]any) (paths [][]string) {
	for _, o := range objects {
		expandIn(o, nil, path, func(found []string) { paths = append(paths, found) })
	}
	return sorted(paths)
}

func expandIn(value any, done, left []string, found func([]string)) {
	if len(left) == 0 {
		found(done)
		return
	}
	step := left[0]
	into := func(step string, item any) { expandIn(item, append(slices.Clone(done), step), left[1:], found) }
	switch v := value.(type) {
	case nil:
		found(slices.Concat(done, left))
	case map[string]any:
		if step != render.AnyItem {
			into(step, v[step])
			return
		}
		for key, item := range v {
			into(key, item)
		}
	case []any:
		for i, item := range v {
			if n := strconv.Itoa(i); step == render.AnyItem || step == n {
				into(n, item)
			}
		}
	}
}

// sorted returns paths in order, each once.
func sorted(paths [][]string) [][]string {
	slices.SortFunc(paths, slices.Compare)
	return slices.CompactFunc(paths, slices.Equal)
}

// with returns a copy of a value with item at a path; it shares the rest. Missing mappings are
// created, missing lists and list items are not.
func with(value any, path []string, item any) any {
	if len(path) == 0 {
		return item
	}
	i, err := strconv.Atoi(path[0])
	isIndex := err == nil
	switch v := value.(type) {
	case nil:
		if below := with(nil, path[1:], item); below != nil && !isIndex {
			return map[string]any{path[0]: below}
		}
	case map[string]any:
		if below := with(v[path[0]], path[1:], item); below != nil {
			out := maps.Clone(v)
			out[path[0]] = below
			return out
		}
	case []any:
		if isIndex && i >= 0 && i < len(v) {
			out := slices.Clone(v)
			out[i] = with(v[i], path[1:], item)
			return out
		}
	}
	return value
}
