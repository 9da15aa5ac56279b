package target

import (
	"maps"
	"slices"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// WithHooks adds to the requests of a root those that delete its hooks, and those that create hooks
// when the root is deleted.
func WithHooks(c *change.Change, cluster *admission.Cluster, base, head *change.Rendered, pairs []Pair) []Pair {
	if head == nil {
		if base != nil && c.RunsDeletionHooks(base.Root) {
			pairs = slices.Concat(pairs, deletionHooks(cluster, base))
		}
		return pairs
	}
	var gone []Pair
	if base != nil && change.Reinstalled(head.Root) {
		gone = deletionHooks(cluster, base)
	}
	if !slices.ContainsFunc(pairs, isHook) {
		return slices.Concat(gone, pairs)
	}
	ran := lastOf(byKey(cluster, c.Earlier(base, head)))
	deleted := map[admission.Key]bool{}
	for _, p := range pairs {
		deleted[p.Key] = deleted[p.Key] || p.Head == nil
	}
	release := head.Root.Unit.Release
	upgrades := release == nil || release.Upgrade || release.Reinstalled != ""
	all := gone
	for _, p := range pairs {
		if isHook(p) {
			all = append(all, withDeletions(head.Root, p, ran[p.Key], upgrades && !deleted[p.Key])...)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// withDeletions returns the requests for a hook: those that create or update it, those that delete it before,
// if it may exist, and those that delete it afterwards. before is the object of its key at base.
func withDeletions(root render.Root, p Pair, before *admission.Object, mayBeThere bool) (all []Pair) {
	hook, was := change.HookOf(p.Head), hookOf(before)
	if before != nil && !isNameless(p.Head) && p.Operation() == apiserver.Create {
		if was != nil && was.Ran {
			p.Base, p.Same = before, change.Equal(before, p.Head)
		}
		there := mayBeThere && (was == nil || !was.Removed)
		switch {
		case there && hook.Replaced:
			first := Pair{Key: p.Key, Base: before, Same: p.Same}
			if p.Same {
				first.Earlier = before
			}
			all = append(all, first)
		case there && hook.Applied && was != nil && was.Ran && !Expires(before): // it is applied over the existing one
			p.Generated = false
		}
	}
	done := p.Head
	if p.Head = finalized(p.Head); p.Generated {
		p.Base = finalized(p.Base)
	}
	all = append(all, p)
	removal := Pair{Key: p.Key, Base: done, Same: p.Same}
	if hook.Repeated && (hook.Replaced || hook.Removed) && !isNameless(done) { // it is deleted before it runs again, now and at base
		again := removal
		if was != nil && was.Ran && was.Repeated && (was.Replaced || was.Removed) {
			again.Earlier = before
		}
		second := p
		second.Generated = true
		all = append(all, again, second)
	}
	if hook.Removed && (!isNameless(done) || root.Kind == render.KindArgoCD) { // Argo CD generates the name itself
		if was != nil && was.Removed && was.Ran {
			removal.Earlier = before
		}
		all = append(all, removal)
	}
	return all
}

// Expires reports whether a cluster deletes an object some time after it has run.
func Expires(o *admission.Object) bool {
	if o.GroupVersionKind().Kind != "Job" { // others are not decoded, since their content would stay in memory
		return false
	}
	spec, _ := o.Content()["spec"].(map[string]any)
	return spec["ttlSecondsAfterFinished"] != nil
}

// isHook reports whether a pair is a hook that is created or updated.
func isHook(p Pair) bool {
	return p.Head != nil && change.RoleOf(p.Head) == render.RoleHook && change.HookOf(p.Head) != nil
}

func isNameless(o *admission.Object) bool { return o.Name() == "" }

func hookOf(o *admission.Object) *render.Hook {
	if o == nil {
		return nil
	}
	return change.HookOf(o)
}

// finalized returns a hook with the finalizer that its deployer sets.
func finalized(o *admission.Object) *admission.Object {
	hook := hookOf(o)
	if o == nil || hook == nil || hook.Finalizer == "" {
		return o
	}
	content := maps.Clone(o.Content())
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	finalizers, _ := metadata["finalizers"].([]any)
	if metadata == nil || slices.Contains(finalizers, any(hook.Finalizer)) {
		return o
	}
	content["metadata"], metadata["finalizers"] = metadata, append(slices.Clone(finalizers), hook.Finalizer)
	made := admission.ParseObject(tree.Encode(content))
	made.Tag, made.Unknown = o.Tag, o.Unknown
	return made
}

// deletionHooks returns the requests for the hooks of a root that is deleted. If a hook exists because it
// also runs when the root is applied, Helm deletes it first, and Argo CD keeps it.
func deletionHooks(cluster *admission.Cluster, base *change.Rendered) (pairs []Pair) {
	there := lastOf(byKey(cluster, base.Objects))
	for _, o := range base.OnDeletion {
		hook, key := change.HookOf(o), cluster.Key(o)
		exists := there[key] == o && !hook.Removed
		if exists && base.Root.Kind == render.KindArgoCD {
			continue
		}
		if exists && hook.Replaced {
			pairs = append(pairs, Pair{Key: key, Base: o})
		}
		create, remove := Pair{Key: key, Head: o, Generated: true}, Pair{Key: key, Base: o}
		if exists && !hook.Replaced && hook.Applied && !Expires(o) { // it is applied over the existing one
			pairs = append(pairs, Pair{Key: key, Base: o, Head: o})
		} else {
			pairs = append(pairs, create)
		}
		if isNameless(o) {
			continue
		}
		if hook.RepeatedOnDeletion && (hook.Replaced || hook.Removed) {
			pairs = append(pairs, remove, create)
		}
		if hook.Removed {
			pairs = append(pairs, remove)
		}
	}
	return pairs
}
