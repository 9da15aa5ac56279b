package pages

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/html"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// scanView is the page of a scan; its status is also sent alone.
type scanView struct {
	Row rowView
	// Live is set until the scan is over.
	Live bool
	// Percent is the progress of the stage; -1 when it is unknown.
	Percent int
	// Words describe the state in a sentence.
	Words string
	// MayRescan is set if the viewer may start the scan again.
	MayRescan bool
	// Missing is why there is no report.
	Missing string
	Report  *html.Parts
}

// visible returns the scan of the path, if the viewer may see it.
func (p *Pages) visible(r *http.Request, v *viewer) (queue.Scan, right, error) {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return queue.Scan{}, mayNothing, notThere()
	}
	s, err := p.config.Queue.Scan(r.Context(), id.String())
	if err != nil {
		return queue.Scan{}, mayNothing, err
	}
	has, err := p.right(r.Context(), v, s)
	if err == nil && has < mayRead {
		err = notThere()
	}
	return s, has, err
}

func (p *Pages) scan(w http.ResponseWriter, r *http.Request, v *viewer) error {
	s, has, err := p.visible(r, v)
	if err != nil {
		return err
	}
	view := p.scanView(s, has)
	if view.Report, view.Missing, err = p.parts(r.Context(), s); err != nil {
		return err
	}
	f := frame{Title: view.Row.Word + ": " + subjectText(s), Heading: view.Row.Word, Class: view.Row.Class, Live: view.Live}
	if view.Report != nil {
		f.Contents, f.Many = view.Report.Contents, view.Report.Many
		if s.State == queue.Completed {
			f.Heading, f.Class, f.Title = view.Report.Headline, view.Report.Class, view.Report.Headline+": "+subjectText(s)
		}
	}
	if err := p.under(&f, "scan-under", view); err != nil {
		return err
	}
	p.write(w, http.StatusOK, v, f, "scan", view)
	return nil
}

// status sends the part of the page that changes while a scan runs. The header Preadmit-State
// has the scan's state.
func (p *Pages) status(w http.ResponseWriter, r *http.Request, v *viewer) error {
	s, has, err := p.visible(r, v)
	if err != nil {
		return err
	}
	body, err := p.part("status", p.scanView(s, has))
	if err != nil {
		return err
	}
	w.Header().Set("Preadmit-State", string(s.State))
	p.send(w, http.StatusOK, "text/html; charset=utf-8", []byte(body))
	return nil
}

func (p *Pages) scanView(s queue.Scan, has right) scanView {
	v := scanView{Row: p.row(s), Live: !s.State.Over(), Percent: -1, MayRescan: has == mayWrite && s.State.Over()}
	switch s.State {
	case queue.Queued:
		v.Words = "The scan waits for its turn."
	case queue.Running:
		v.Words = "The scan runs"
		if s.Stage != "" {
			v.Words += ": " + escape.Line(s.Stage)
		}
		if s.Total > 0 {
			v.Words += fmt.Sprintf(", %d of %d", s.Done, s.Total)
			v.Percent = min(max(100*s.Done/s.Total, 0), 100)
		}
		v.Words += "."
	case queue.Failed:
		v.Words = "The scan could not be completed: nothing was judged as allowed."
	case queue.Cancelled:
		v.Words = "The scan was cancelled."
	case queue.Superseded:
		v.Words = "A newer scan took its place."
	}
	return v
}

// parts reads the report of a scan and returns the parts of its page; missing is why there is
// none.
func (p *Pages) parts(ctx context.Context, s queue.Scan) (parts *html.Parts, missing string, err error) {
	if !s.HasReport {
		if s.State == queue.Completed {
			missing = "There is no report of this scan, or it is no longer kept."
		}
		return nil, missing, nil
	}
	done, err := p.draw(ctx)
	if err != nil {
		return nil, "", err
	}
	defer done()
	r, err := p.readReport(ctx, s.ID)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, "The report is no longer kept.", nil
	}
	if err != nil {
		return nil, "", err
	}
	parts, err = html.PartsOf(r, html.Options{Blob: p.blob(s)})
	return parts, "", err
}

func (p *Pages) readReport(ctx context.Context, id string) (*report.Report, error) {
	data, err := p.config.Queue.Report(ctx, id)
	if err != nil {
		return nil, err
	}
	return report.Read(bytes.NewReader(data))
}

// blob returns the URL below which GitHub shows the judged files; empty when it is unknown.
func (p *Pages) blob(s queue.Scan) string {
	commit := cmp.Or(s.Judged, s.Head)
	if commit == "" {
		return ""
	}
	return p.config.WebURL + "/" + url.PathEscape(s.Owner) + "/" + url.PathEscape(s.Repo) + "/blob/" + url.PathEscape(commit) + "/"
}

// rescan enqueues the same scan again, if the viewer may write to the repository.
func (p *Pages) rescan(w http.ResponseWriter, r *http.Request, v *viewer) error {
	s, has, err := p.visible(r, v)
	if err != nil {
		return err
	}
	if has < mayWrite {
		return &problem{Status: http.StatusForbidden, Title: "You may not scan again",
			Text: "Who may write to the repository may have it scanned again.", Hint: "Ask for write access on GitHub, or push to the pull request."}
	}
	job, _, err := p.config.Queue.Enqueue(r.Context(), queue.Job{
		Kind: s.Kind, Installation: s.Installation, Repository: s.Repository, Owner: s.Owner, Repo: s.Repo,
		Pull: s.Pull, Head: s.Head, Base: s.Base, Ref: s.Ref, Fresh: true, Sender: v.Login, Reason: "page",
	})
	if err != nil {
		return fmt.Errorf("enqueue a scan: %w", err)
	}
	http.Redirect(w, r, "/scans/"+job.ID, http.StatusSeeOther)
	return nil
}

// Progress returns the attributes of a progress element.
func (v scanView) Progress() template.HTMLAttr {
	if v.Percent < 0 {
		return ""
	}
	return template.HTMLAttr(fmt.Sprintf(`max="100" value="%d"`, v.Percent))
}
