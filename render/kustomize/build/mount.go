package build

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/tree"
)

// mounted returns a kustomization as kustomize sees it: with paths of artifacts in place of remote entries. An
// unavailable entry is replaced with a stand-in if the closure may be partial; otherwise it stays and is
// refused later. Nothing changes when the tree has no artifacts.
func (w *walker) mounted(k *Kustomization, plugin bool) *Kustomization {
	var edits []edit
	mounts, without := map[string]string{}, map[string]bool{}
	for _, r := range k.refs() {
		e := Entry{ref: r, From: k}
		a, ok := e.artifact()
		if !ok {
			continue
		}
		if why := w.absent(e, a); why != "" {
			if change, ok := w.leaveOut(e, a, why, plugin); ok {
				edits = append(edits, change)
				without[fmt.Sprint(r.At)] = true
			}
			continue
		}
		at, _, _ := w.tree.Mount(a.Requested())
		change, _ := k.edit(e, path.Join(at, a.Dir))
		w.need(a)
		edits = append(edits, change)
		mounts[fmt.Sprint(r.At)] = at
	}
	if len(edits) == 0 {
		return k
	}
	out := parseKustomization(k.Path, apply(k.Data, edits))
	out.Document, out.mounts, out.absent = k.Document, mounts, without
	return out
}

// absent returns why an entry's artifact cannot be used, as the end of a refusal message; "" if it can.
func (w *walker) absent(e Entry, a render.Artifact) string {
	_, ok, err := w.tree.Mount(a.Requested())
	switch {
	case e.Kind == RefPlugin || e.Kind == RefInline:
		return "is not fetched: rendering does not reach the network"
	case !ok:
		return "is not fetched: preadmit fetch gets it"
	}
	missing := new(artifact.MissingError)
	switch {
	case errors.As(err, &missing):
		return fmt.Sprintf("is not there: %s; %s", missing.Why, missing.Hint)
	case err != nil:
		return fmt.Sprintf("cannot be used: %v", err)
	case w.annotates(e.From):
		return "cannot be used with buildMetadata: kustomize notes where it fetched to"
	}
	if _, ok := e.From.edit(e, "a"); !ok {
		return "cannot be used as it is written: write it on one line, without escapes and aliases"
	}
	return ""
}

// annotates reports whether the root makes kustomize write annotations about the origin of objects.
func (w *walker) annotates(k *Kustomization) bool {
	if len(w.out.Files) > 0 {
		k = w.out.Files[0]
	}
	return slices.ContainsFunc(k.Spec.BuildMetadata, func(what string) bool {
		return what == "originAnnotations" || what == "transformerAnnotations"
	})
}

// escapes refuses an entry with a path that kustomize does not allow: out of a fetched repository or, for a
// file in one, out of the directory of its kustomization. The directory of artifacts is reachable only for
// entries that name the artifact.
func (w *walker) escapes(e Entry, to *tree.Resolution) bool {
	inside := overlay.Under(e.From.Dir)
	switch {
	case to.Err != nil || e.From.mounts[fmt.Sprint(e.At)] != "":
		return false
	case !inside && !overlay.Under(to.Real):
		return false
	case !inside:
		w.fail(e, "%s does not exist: there is no %s in the repository", Quote(e.Value), to.Real)
		return true
	}
	within := e.From.Dir // for files
	if to.IsDir {
		within = mountOf(e.From.Dir)
	}
	if to.Real == within || strings.HasPrefix(to.Real, within+"/") {
		return false
	}
	w.fail(e, "kustomize takes no path out of %s, which is remote: %s leads to %s", within, Quote(e.Value), to.Real)
	return true
}

// fail records a reason why kustomize's build will fail, if none is recorded.
func (w *walker) fail(e Entry, format string, args ...any) {
	if w.out.Refused == nil {
		w.out.Refused = &render.Problem{Kind: render.ProblemFailed, Position: e.Position(), Message: fmt.Sprintf(format, args...)}
	}
}

// mountOf returns the directory of the artifact that contains a path: the first below the top with an @ in its
// name.
func mountOf(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if i > 0 && strings.Contains(part, "@") {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return name
}

// Mounts reports whether artifacts are part of the closure.
func (c *Closure) Mounts() bool {
	return slices.ContainsFunc(c.Files, func(k *Kustomization) bool { return len(k.mounts) > 0 })
}

// EntryOf returns the repository's own entry for the artifact that contains a path; ok is false for paths of
// the repository.
func (c *Closure) EntryOf(name string) (at tree.Position, ok bool) {
	for range c.Files {
		if !overlay.Under(name) {
			return at, ok
		}
		e, found := c.mountedBy(mountOf(name))
		if !found {
			return at, false
		}
		at, ok, name = e.Position(), true, e.From.Path
	}
	return at, ok && !overlay.Under(name)
}

// mountedBy returns the first entry of an artifact.
func (c *Closure) mountedBy(dir string) (e Entry, ok bool) {
	for _, e := range c.Entries {
		if at := e.From.mounts[fmt.Sprint(e.At)]; at != "" && mountOf(at) == dir {
			return e, true
		}
	}
	return Entry{}, false
}

// rewritten returns a kustomization file as kustomize sees it. Lines keep their numbers.
func (c *Closure) rewritten(real string, data []byte) []byte {
	if c == nil {
		return data
	}
	for _, k := range c.Files {
		if k.Path == real && len(k.mounts)+len(k.absent) > 0 {
			return k.Data
		}
	}
	return data
}
