package pages

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// rowView is a scan in a list.
type rowView struct {
	queue.Scan
	Links linksView
	// Subject is what is scanned, without the repository: "#7 Title".
	Subject string
	// Class and Word are the state, or the outcome.
	Class, Word string
	Counts      string
	Took        time.Duration
	// Far is set on pages of several repositories, and Near on that of the pull request: rows
	// omit what is the same for the whole page.
	Far, Near bool
}

// linksView has the links of a scan.
type linksView struct {
	Name       string // owner/name
	Title      string
	Repository string // page of ours
	Pull       string // page of ours; empty without a pull request
	PullNumber int
	GitHub     string // the pull request or repository on GitHub
	Commit     string // URL prefix of commits on GitHub
}

func (p *Pages) row(s queue.Scan) rowView {
	s = p.shown(s)
	class, word := outcome(s)
	v := rowView{Scan: s, Links: p.links(s), Subject: subject(s), Class: class, Word: word, Counts: s.CountsText(), Far: true}
	if !s.Started.IsZero() && !s.Finished.IsZero() {
		v.Took = s.Finished.Sub(s.Started)
	}
	return v
}

// shown returns the record with text that is safe to show, each on one line, and with links only
// to GitHub or to pages.
func (p *Pages) shown(s queue.Scan) queue.Scan {
	for _, text := range []*string{&s.Author, &s.Why, &s.Reason, &s.Stage, &s.Head, &s.Base, &s.Judged} {
		*text = escape.Line(*text)
	}
	for _, link := range []*string{&s.CheckURL, &s.CommentURL} {
		if !strings.HasPrefix(*link, p.config.WebURL+"/") {
			*link = ""
		}
	}
	if uuid.Validate(s.SupersededBy) != nil {
		s.SupersededBy = ""
	}
	return s
}

func (p *Pages) links(s queue.Scan) linksView {
	name := url.PathEscape(s.Owner) + "/" + url.PathEscape(s.Repo)
	v := linksView{
		Name: escape.Line(s.Owner + "/" + s.Repo), Title: escape.Line(s.Title), Repository: "/repos/" + name,
		GitHub: p.config.WebURL + "/" + name, Commit: p.config.WebURL + "/" + name + "/commit/",
	}
	if s.Pull > 0 {
		number := strconv.Itoa(s.Pull)
		v.PullNumber = s.Pull
		v.Pull = v.Repository + "/pulls/" + number
		v.GitHub += "/pull/" + number
	}
	return v
}

// subject returns what a scan is of, within its repository, on one safe line.
func subject(s queue.Scan) string {
	switch s.Kind {
	case queue.KindGroup:
		return "Merge group " + short(s.Head)
	case queue.KindPush:
		return escape.Line("Push to " + s.Ref)
	}
	text := "#" + strconv.Itoa(s.Pull)
	if s.Title != "" {
		text += " " + escape.Line(s.Title)
	}
	return text
}

func subjectText(s queue.Scan) string { return escape.Line(s.Owner+"/"+s.Repo) + " " + subject(s) }

// outcome returns a word for the state of a scan, or for its outcome, and its CSS class.
func outcome(s queue.Scan) (class, word string) {
	switch s.State {
	case queue.Queued:
		return "", "Queued"
	case queue.Running:
		return "audit", "Running"
	case queue.Failed:
		return "deny", "Failed"
	case queue.Cancelled:
		return "", "Cancelled"
	case queue.Superseded:
		return "", "Superseded"
	}
	switch s.Conclusion {
	case "success":
		if s.Warned+s.Denied+s.Indeterminate > 0 {
			return "warn", "Passed, with remarks"
		}
		return "clean", "Passed"
	case "failure":
		if s.Denied == 0 { // something no longer renders, or failOn counts more than denials
			return "deny", "Not passed"
		}
		return "deny", "Denied"
	case "neutral":
		return "warn", "Neutral"
	case "action_required":
		return "warn", "Waiting for approval"
	}
	return "", "Completed"
}
