package pages

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	// deadRows is the number of dead letters that are shown.
	deadRows = 100
	// recoveredRows is the number of shown scans that reconciliation enqueued.
	recoveredRows = 20
)

// queueView is the page about the state of the service.
type queueView struct {
	queue.Stats
	// Age is how long the oldest job has waited.
	Age time.Duration
	// Trouble is why the store does not accept writes; empty when it does.
	Trouble   string
	Letters   []deadView
	MoreDead  int
	Recovered []rowView
}

type deadView struct {
	queue.Dead
	Subject, Why string
	Links        linksView
}

// queue shows the state of the queue to operators.
func (p *Pages) queue(w http.ResponseWriter, r *http.Request, v *viewer) error {
	if err := p.needsOperator(r.Context(), v); err != nil {
		return err
	}
	stats, err := p.config.Queue.Stats(r.Context())
	if err != nil {
		return fmt.Errorf("ask the queue how it does: %w", err)
	}
	letters, err := p.config.Queue.Dead(r.Context(), deadRows)
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	view := queueView{Stats: stats, MoreDead: max(stats.Dead-len(letters), 0), Recovered: p.found()}
	if !stats.Oldest.IsZero() {
		view.Age = p.config.Now().Sub(stats.Oldest)
	}
	if err := p.config.Queue.Ready(r.Context()); err != nil {
		view.Trouble = escape.Line(err.Error())
	}
	for _, d := range letters {
		view.Letters = append(view.Letters, p.dead(d))
	}
	f := frame{Title: "Queue and health", Heading: "Queue and health", At: "/queue"}
	p.write(w, http.StatusOK, v, f, "queue", view)
	return nil
}

func (p *Pages) dead(d queue.Dead) deadView {
	s := queue.Scan{Kind: d.Job.Kind, Owner: d.Job.Owner, Repo: d.Job.Repo, Pull: d.Job.Pull, Head: d.Job.Head, Ref: d.Job.Ref}
	v := deadView{Dead: d, Why: escape.Line(d.Why), Links: p.links(s)}
	switch d.Job.Kind {
	case queue.KindPull, queue.KindGroup, queue.KindPush:
		v.Subject = subject(s)
	default:
		v.Subject = escape.Line(string(d.Job.Kind))
	}
	if d.Job.Owner == "" {
		v.Links.Name = fmt.Sprintf("installation %d", d.Job.Installation)
	}
	return v
}

// found returns the newest scans that reconciliation enqueued.
func (p *Pages) found() []rowView {
	var rows []rowView
	for _, s := range p.config.Queue.Scans(queue.ScanFilter{Limit: pageLooks}) {
		if s.Reason != reconciled {
			continue
		}
		if rows = append(rows, p.row(s)); len(rows) == recoveredRows {
			break
		}
	}
	return rows
}

// reconciled is the reason of jobs that reconciliation enqueues.
const reconciled = "reconcile"

// needsOperator returns nil for operators whose token GitHub still accepts, else an error.
func (p *Pages) needsOperator(ctx context.Context, v *viewer) error {
	if v.Operator {
		return p.checkToken(ctx, v)
	}
	return &problem{Status: http.StatusForbidden, Title: "For operators only",
		Text: "The queue shows all repositories.", Hint: "Who runs the service may add your login to pages.admins."}
}

// revive puts a dead letter back into the queue.
func (p *Pages) revive(w http.ResponseWriter, r *http.Request, v *viewer) error {
	if err := p.needsOperator(r.Context(), v); err != nil {
		return err
	}
	sequence, err := strconv.ParseUint(chi.URLParam(r, "sequence"), 10, 64)
	if err != nil {
		return notThere()
	}
	job, err := p.config.Queue.Revive(r.Context(), sequence)
	if err != nil {
		return fmt.Errorf("revive a dead letter: %w", err)
	}
	p.config.Log.InfoContext(r.Context(), "a dead letter was revived", "by", v.Login, "job", job.ID, "subject", job.Subject())
	to := "/queue"
	if job.Kind.Judges() {
		to = "/scans/" + job.ID
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
