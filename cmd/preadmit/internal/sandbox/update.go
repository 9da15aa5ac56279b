package sandbox

import (
	"context"
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
)

// Update is a change of what a server was given.
type Update struct {
	// Loaded is what it has been given now.
	*Loaded
	// Deleted are the objects that are no more.
	Deleted []Result
}

// Update gives the server what changed since before: objects that are new, that differ, or that it
// refused, and deletes those that are gone. Nothing is deleted that a root may have of which not all
// objects are known.
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
	lacking, err := l.lacking(ctx, usersOf(out.Results))
	if err != nil {
		return nil, err
	}
	if len(lacking) > 0 {
		if err := l.allow(ctx, usersOf(out.Results)); err != nil {
			return nil, err
		}
		for _, u := range lacking {
			out.Admins = append(out.Admins, u.GetName())
		}
	}
	if err := l.stages(ctx, out.Loaded, func() error { return nil }); err != nil {
		return nil, err
	}
	for i := range before.Results {
		r := before.Results[i]
		switch {
		case had[r.Key] != &before.Results[i] || r.Object.Name() == "":
		case slices.ContainsFunc(unknown, func(u scanner.Unrendered) bool { return u.Judged || r.Given }):
			r.Kept = true
			out.Results = append(out.Results, r)
		default:
			out.Deleted = append(out.Deleted, r)
		}
	}
	slices.SortStableFunc(out.Deleted, func(a, b Result) int { return stageOf(b.Applied) - stageOf(a.Applied) })
	return out, l.remove(ctx, out.Deleted)
}

// remove deletes objects, and notes the answers.
func (l *Loader) remove(ctx context.Context, gone []Result) error {
	for i := range gone {
		r := &gone[i]
		at, err := l.place(r.Applied)
		if err != nil {
			continue // it went with its definition
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
	}
	return nil
}

// Tell writes what changed, an object a line.
func (u *Update) Tell(w io.Writer, from *scanner.Deployment) {
	tellBroken(w, from)
	applied, refused, deleted := 0, 0, 0
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(w, escape.Line(fmt.Sprintf(format, args...)))
	}
	for i := range u.Results {
		switch r := &u.Results[i]; {
		case r.Again || r.Kept:
		case r.Answer.Allowed:
			applied++
			line("applied %s", r.Key)
		default:
			refused++
			line("%s%s: %s", placeOf(r, from.Report), r.Key, r.Why())
		}
	}
	for i := range u.Deleted {
		if r := &u.Deleted[i]; r.Answer.Allowed {
			deleted++
			line("deleted %s", r.Key)
		} else {
			refused++
			line("%s is not deleted: %s", r.Key, r.Why())
		}
	}
	_, _ = fmt.Fprintf(w, "preadmit: applied %s, deleted %d, refused %d\n", cli.Count(applied, "object", "objects"), deleted, refused)
}
