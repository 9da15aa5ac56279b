package pages

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	// pageRows is the number of scans on one page.
	pageRows = 50
	// pageLooks limits the scans that are examined for one page, and pageAsks the repositories
	// whose rights are requested from GitHub; emptyAsks is that limit while the page is empty.
	pageLooks = 2000
	pageAsks  = 40
	emptyAsks = 200
)

// listView is a page of scans.
type listView struct {
	Rows []rowView
	// Empty is shown when there are no rows.
	Empty string
	// Older is the URL of the next page; it is set if there may be more scans.
	Older string
	// Unchecked names the repositories for which GitHub did not answer whether the viewer may
	// read them; it is empty when there are none.
	Unchecked string
}

// recent lists the newest scans of all repositories that the viewer may read.
func (p *Pages) recent(w http.ResponseWriter, r *http.Request, v *viewer) error {
	list, err := p.list(r, v, queue.ScanFilter{})
	if err != nil {
		return err
	}
	if list.Unchecked == "" && list.Older == "" && r.URL.Query().Get("before") == "" {
		list.Empty = "There are no scans of repositories that you may read. A scan begins when a pull request is opened or pushed to."
	}
	p.write(w, http.StatusOK, v, frame{Title: "Scans", Heading: "Scans", At: "/"}, "list", list)
	return nil
}

// repository lists the scans of one repository.
func (p *Pages) repository(w http.ResponseWriter, r *http.Request, v *viewer) error {
	newest, err := p.namedRepository(r, v)
	if err != nil {
		return err
	}
	list, err := p.list(r, v, queue.ScanFilter{Repository: newest.Repository})
	if err != nil {
		return err
	}
	newest.Pull = 0 // link to the repository, not to the pull request
	links := p.links(newest)
	f := frame{Title: links.Name, Heading: links.Name}
	if err := p.under(&f, "repository-under", links); err != nil {
		return err
	}
	p.write(w, http.StatusOK, v, f, "list", list)
	return nil
}

// pull lists the scans of one pull request.
func (p *Pages) pull(w http.ResponseWriter, r *http.Request, v *viewer) error {
	number, err := strconv.Atoi(chi.URLParam(r, "number"))
	if err != nil || number <= 0 {
		return notThere()
	}
	newest, err := p.namedRepository(r, v)
	if err != nil {
		return err
	}
	of := queue.ScanFilter{Repository: newest.Repository, Pull: number}
	scans := p.config.Queue.Scans(queue.ScanFilter{Repository: of.Repository, Pull: number, Limit: 1})
	if len(scans) == 0 {
		return notThere()
	}
	list, err := p.list(r, v, of)
	if err != nil {
		return err
	}
	s := scans[0]
	f := frame{Title: subjectText(s), Heading: fmt.Sprintf("Pull request #%d", number)}
	if err := p.under(&f, "pull-under", p.links(s)); err != nil {
		return err
	}
	p.write(w, http.StatusOK, v, f, "list", list)
	return nil
}

// under adds lines below the heading.
func (p *Pages) under(f *frame, name string, view any) error {
	line, err := p.part(name, view)
	if err == nil {
		f.Under = append(f.Under, line)
	}
	return err
}

// namedRepository returns the newest scan of the repository in the path. If several repositories
// had the name, it is the one scanned last.
func (p *Pages) namedRepository(r *http.Request, v *viewer) (queue.Scan, error) {
	of := queue.ScanFilter{Owner: chi.URLParam(r, "owner"), Repo: chi.URLParam(r, "repo"), Limit: 1}
	for _, s := range p.config.Queue.Scans(of) {
		return s, p.mayRead(r.Context(), v, s)
	}
	// The rights are requested from GitHub all the same, once a minute, so that the response time reveals nothing.
	unknown := queue.Scan{Owner: of.Owner, Repo: of.Repo, Repository: numberOf(of.Owner + "/" + of.Repo)}
	if err := p.mayRead(r.Context(), v, unknown); err != nil {
		return queue.Scan{}, err
	}
	return queue.Scan{}, notThere()
}

// numberOf returns a placeholder for the id of a repository of which only the name is known. It
// is negative, unlike real ids.
func numberOf(name string) int64 {
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	return -1 - int64(binary.BigEndian.Uint64(sum[:])>>1)
}

// mayRead returns nil if the viewer may read the repository of a scan, else an error.
func (p *Pages) mayRead(ctx context.Context, v *viewer, s queue.Scan) error {
	has, err := p.right(ctx, v, s)
	if err == nil && has < mayRead {
		return notThere()
	}
	return err
}

// list returns up to a page of scans that the viewer may see. It stops after a number of scans and
// of requests to GitHub, and links to the page that continues there.
func (p *Pages) list(r *http.Request, v *viewer, of queue.ScanFilter) (*listView, error) {
	of.Before, of.Limit = r.URL.Query().Get("before"), pageLooks
	view := &listView{Empty: "There are no scans here."}
	if p.isGone(r.Context(), of.Before) {
		view.Empty = "The scan that this page would begin after is no longer kept."
	}
	scans := p.config.Queue.Scans(of)
	asked := p.newSurvey(v)
	ctx, cancel := context.WithTimeout(r.Context(), githubTimeout)
	defer cancel()
	last := ""
	for i, s := range scans {
		room, asks := pageRows-len(view.Rows), pageAsks
		if room == pageRows {
			asks = emptyAsks
		}
		if room == 0 || !asked.knows(s) && len(asked.known) >= asks {
			view.older(r.URL, last)
			break
		}
		if err := asked.ahead(ctx, scans[i:min(len(scans), i+room)]); err != nil {
			return nil, err
		}
		if last = s.ID; asked.known[s.Repository] >= mayRead {
			row := p.row(s)
			row.Far, row.Near = of.Repository == 0, of.Pull > 0
			view.Rows = append(view.Rows, row)
		}
	}
	if len(scans) == pageLooks && view.Older == "" {
		view.older(r.URL, last)
	}
	return view, asked.addNotice(view)
}

// isGone reports whether the scan with the id before no longer exists.
func (p *Pages) isGone(ctx context.Context, before string) bool {
	if before == "" {
		return false
	}
	_, err := p.config.Queue.Scan(ctx, before)
	return errors.Is(err, queue.ErrNotFound)
}

func (v *listView) older(at *url.URL, last string) {
	v.Older = at.EscapedPath() + "?before=" + url.QueryEscape(last)
	v.Empty = "Of the newest scans none is of a repository that you may read."
}
