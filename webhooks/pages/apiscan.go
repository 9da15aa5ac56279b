package pages

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// apiScanView is the JSON form of a scan.
type apiScanView struct {
	ID           string      `json:"id"`
	Kind         queue.Kind  `json:"kind"`
	Repository   string      `json:"repository"`
	Pull         int         `json:"pull,omitempty"`
	Head         string      `json:"head,omitempty"`
	Base         string      `json:"base,omitempty"`
	Judged       string      `json:"judged,omitempty"`
	State        queue.State `json:"state"`
	Conclusion   string      `json:"conclusion,omitempty"`
	Why          string      `json:"why,omitempty"`
	Progress     *progress   `json:"progress,omitempty"`
	Counts       counts      `json:"counts"`
	SupersededBy string      `json:"supersededBy,omitempty"`
	Created      time.Time   `json:"created"`
	Started      time.Time   `json:"started,omitzero"`
	Finished     time.Time   `json:"finished,omitzero"`
	URLs         urls        `json:"urls"`
}

// progress is the progress of a running scan; Total is 0 while it is unknown.
type progress struct {
	Stage string `json:"stage"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

type counts struct {
	Denied        int `json:"denied"`
	Warned        int `json:"warned"`
	Indeterminate int `json:"indeterminate"`
}

// urls are the URLs of the scan in the API, its page, its report if there is one, and its check
// run and comment on GitHub.
type urls struct {
	Self    string `json:"self"`
	Page    string `json:"page"`
	Report  string `json:"report,omitempty"`
	Check   string `json:"check,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// apiVisible returns the scan of the path, if the token allows its repository.
func (p *Pages) apiVisible(r *http.Request, t *Token) (queue.Scan, error) {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return queue.Scan{}, queue.ErrNotFound
	}
	s, err := p.config.Queue.Scan(r.Context(), id.String())
	if err == nil && !t.may(s.Owner, s.Repo) {
		err = queue.ErrNotFound
	}
	return s, err
}

func (p *Pages) apiScan(w http.ResponseWriter, r *http.Request, t *Token) error {
	s, err := p.apiVisible(r, t)
	if err != nil {
		return err
	}
	self := p.absolute("/api/v1/scans/" + s.ID)
	v := apiScanView{
		ID: s.ID, Kind: s.Kind, Repository: s.Owner + "/" + s.Repo, Pull: s.Pull, Head: s.Head, Base: s.Base, Judged: s.Judged,
		State: s.State, Conclusion: s.Conclusion, Why: s.Why, Counts: counts{s.Denied, s.Warned, s.Indeterminate},
		SupersededBy: s.SupersededBy, Created: s.Created.UTC(), Started: s.Started.UTC(), Finished: s.Finished.UTC(),
		URLs: urls{Self: self, Page: p.URL(s.ID), Check: s.CheckURL, Comment: s.CommentURL},
	}
	if s.State == queue.Running {
		v.Progress = &progress{s.Stage, s.Done, s.Total}
	}
	if s.HasReport {
		v.URLs.Report = self + "/report"
	}
	return p.answer(w, http.StatusOK, v)
}

func (p *Pages) apiReport(w http.ResponseWriter, r *http.Request, t *Token) error {
	s, err := p.apiVisible(r, t)
	if err != nil {
		return err
	}
	text, err := p.writeReport(r, s, "json")
	if err != nil {
		return err
	}
	p.send(w, http.StatusOK, "application/json", text)
	return nil
}
