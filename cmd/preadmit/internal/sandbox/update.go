package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
)

// Update is a change of the state of a server.
type Update struct {
	// Loaded is the new state.
	*Loaded
	// Deleted are the objects that were deleted.
	Deleted []Result
	// Needed are the Namespaces that nothing defines any more, but that objects are in.
	Needed []string
	// Made are the users who became cluster-admin, because the state does not grant them the
	// rights to apply it.
	Made []string
}

// Update applies the changes since before to the server: it sends objects that are new, that differ, or
// that were refused, and deletes those that are gone. It does not delete objects that may belong to a root
// whose objects are not all known.
func (l *Loader) Update(ctx context.Context, before *Loaded, d scanner.Deployed, unknown []scanner.Unrendered) (*Update, error) {
	out := &Update{Loaded: NewLoaded(d)}
	had := map[admission.Key]*Result{}
	for i := range before.Results {
		if r := &before.Results[i]; r.Answer.Allowed && !r.Again {
			had[r.Key] = r
		}
	}
	for i := range out.Results {
		r := &out.Results[i]
		if r.Again {
			continue
		}
		if old := had[r.Key]; old != nil && old.Applier == r.Applier && old.Object.Equal(r.Object) {
			r.Kept, r.Answer = true, old.Answer
		}
		delete(had, r.Key)
	}
	gone := out.gone(before, had, unknown)
	// Deleted policies must not refuse anything, and objects are deleted with their definitions.
	first := slices.IndexFunc(gone, func(r Result) bool { return !isFirst(r) })
	if first < 0 {
		first = len(gone)
	}
	if err := l.remove(ctx, gone[:first]); err != nil {
		return nil, err
	}
	if first > 0 {
		if err := l.inForce(ctx); err != nil {
			return nil, err
		}
	}
	out.sendAgain(func(r *Result) bool {
		return slices.ContainsFunc(gone[:first], func(d Result) bool { return d.Answer.Allowed && holds(&d, r) })
	})
	if err := l.renew(ctx, before, out); err != nil {
		return nil, err
	}
	out.Deleted = gone
	return out, l.remove(ctx, gone[first:])
}

// renew sends what is new or differs. It grants the deployers the rights for that meanwhile.
func (l *Loader) renew(ctx context.Context, before *Loaded, out *Update) error {
	users := usersOf(out.Results)
	lacking, err := l.lacking(ctx, users)
	if err != nil {
		return err
	}
	out.Admins = before.Admins
	if len(lacking) > 0 {
		if err := l.allow(ctx, append(users, probeUser)); err != nil {
			return err
		}
	}
	return l.stages(ctx, out.Loaded, func() (err error) {
		if len(lacking) > 0 {
			out.Admins, err = l.disallow(ctx, users)
		}
		for _, name := range out.Admins {
			if !slices.Contains(before.Admins, name) {
				out.Made = append(out.Made, name)
			}
		}
		return err
	})
}

// gone returns the objects to delete: policies first, then definitions, then the rest, with those that
// others need last. It adds the objects that stay to u.Results.
func (u *Update) gone(before *Loaded, had map[admission.Key]*Result, unknown []scanner.Unrendered) []Result {
	var gone []Result
	for i := range before.Results {
		r := before.Results[i]
		stays := slices.ContainsFunc(unknown, func(u scanner.Unrendered) bool { return u.Judged || r.Given })
		switch {
		case had[r.Key] != &before.Results[i] || r.Object.Name() == "":
			continue
		case stays:
			r.Kept = true
			u.Results = append(u.Results, r)
		default:
			gone = append(gone, r)
		}
	}
	used := map[string]bool{}
	for i := range u.Results {
		used[u.Results[i].Key.Namespace] = true
	}
	gone = slices.DeleteFunc(gone, func(r Result) bool {
		if r.Object.GroupVersionKind().GroupKind() != kinds.Namespace || !used[r.Object.Name()] {
			return false
		}
		r.Kept = true
		u.Results, u.Needed = append(u.Results, r), append(u.Needed, r.Object.Name())
		return true
	})
	slices.SortStableFunc(gone, func(a, b Result) int {
		if first := isFirst(a); first != isFirst(b) {
			if first {
				return -1
			}
			return 1
		}
		return stageOf(b.Applied) - stageOf(a.Applied)
	})
	return gone
}

// isFirst reports whether an object is deleted before others are applied.
func isFirst(r Result) bool {
	kind := r.Object.GroupVersionKind().GroupKind()
	return kind == kinds.Definition || kinds.IsPolicy(kind)
}

// remove deletes objects, and records the answers.
func (l *Loader) remove(ctx context.Context, gone []Result) error {
	for i := range gone {
		r := &gone[i]
		at, err := l.place(r.Applied)
		if err != nil {
			continue // it was deleted with its definition
		}
		a, err := l.client.do(ctx, call{
			method: http.MethodDelete, path: at.path, user: r.User,
			query: url.Values{"propagationPolicy": {string(metav1.DeletePropagationBackground)}},
		})
		if err != nil {
			return fmt.Errorf("delete %s: %w", r.Key, err)
		}
		if r.Answer = verdictOf(a); a.Code == http.StatusNotFound {
			r.Answer.Allowed = true
		}
		if r.Answer.Allowed {
			if err := l.goneFor(ctx, r, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// goneFor waits until a definition or Namespace is gone with its objects, and the kind of a definition
// is no longer served.
func (l *Loader) goneFor(ctx context.Context, r *Result, at place) error {
	kind := r.Object.GroupVersionKind().GroupKind()
	if kind != kinds.Definition && kind != kinds.Namespace {
		return nil
	}
	err := until(ctx, r.Key.String()+" to be gone", func(ctx context.Context) (bool, error) {
		a, err := l.client.do(ctx, call{method: http.MethodGet, path: at.path})
		if err != nil || a.Code != http.StatusNotFound || kind != kinds.Definition {
			return err == nil && a.Code == http.StatusNotFound, err
		}
		if err := l.discover(); err != nil {
			return false, err
		}
		_, err = l.mapper.RESTMapping(definedKind(r))
		return err != nil, nil
	})
	if late := new(lateError); errors.As(err, &late) {
		r.Answer = policy.Verdict{Message: late.Error() + ": objects of it may have finalizers, which nothing here removes"}
		return nil
	}
	return err
}

// Write writes what changed, one line per object. If quiet, it writes only what the server refuses
// and what does not render.
func (u *Update) Write(w io.Writer, from *scanner.Deployment, quiet bool) {
	writeBroken(w, from)
	writeUnserved(w, u.Loaded)
	applied, refused, deleted := 0, 0, 0
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(w, escape.Line(fmt.Sprintf(format, args...)))
	}
	for i := range u.Results {
		switch r := &u.Results[i]; {
		case r.Again || r.Kept:
		case r.Answer.Allowed:
			applied++
			if !quiet {
				line("applied %s", r.Key)
			}
		default:
			refused++
			line("%s%s: %s", placeOf(r, from.Report), r.Key, r.Why())
		}
	}
	for i := range u.Deleted {
		if r := &u.Deleted[i]; r.Answer.Allowed {
			deleted++
			if !quiet {
				line("deleted %s", r.Key)
			}
		} else {
			refused++
			line("%s is not deleted: %s", r.Key, r.Why())
		}
	}
	if quiet {
		return
	}
	_, _ = fmt.Fprintf(w, "preadmit: applied %s, deleted %d, refused %d\n", cli.Count(applied, "object", "objects"), deleted, refused)
	if n := len(u.Needed); n > 0 {
		_, _ = fmt.Fprintf(w, "preadmit: left %s that nothing defines any more, as objects are in it: %s\n", cli.Count(n, "Namespace", "Namespaces"), named(u.Needed))
	}
	writeMade(w, u.Namespaces, u.Made)
}
