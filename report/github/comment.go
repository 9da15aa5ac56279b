package github

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/github/retry"
)

// MaxComment bounds a comment, in characters: Unicode code points, each of which may
// take four bytes.
const MaxComment = 65536

// CommentRoom is the limit to write a comment with, which leaves room for the marker and
// the commit's name.
const CommentRoom = MaxComment - 200

// defaultGreen is the comment when nothing is left to say.
const defaultGreen = ":white_check_mark: **preadmit**: what was told here is resolved.\n"

// Comment is what the comment of a pull request should be.
type Comment struct {
	// Body is Markdown of any length, escaped; over GitHub's limit it is cut, with a
	// count of what was left out. Empty means there is nothing (left) to say.
	Body string
	// Green replaces the comment when nothing is left to say. Empty means a sentence
	// that says so.
	Green string
	// Remove deletes the comment instead.
	Remove bool
	// Corrects has nothing said where there is no comment yet.
	Corrects bool
}

// NeedsComment reports whether a report has something for a comment: findings that are new or
// resolved by the change (with existing, any), or what could not be judged because of
// the change.
func NeedsComment(r *report.Report, existing bool) bool {
	for i := range r.Findings {
		if f := &r.Findings[i]; isReported(f, existing) || f.Status == report.StatusResolved {
			return true
		}
	}
	for _, i := range r.Indeterminate {
		if existing || !i.Untouched {
			return true
		}
	}
	return false
}

// Comment keeps one comment on the pull request: made when there is something to say,
// edited in place when the text differs, turned green or removed when nothing is left.
// It is found by a hidden marker at its beginning and by its author, and names at its end
// the commit it is about: a reader may come after a later push.
func (p *Publisher) Comment(ctx context.Context, c Comment) (Published, error) {
	if p.target.Pull == 0 {
		return Published{Note: "No comment: there is no pull request."}, nil
	}
	own, err := p.comments(ctx)
	if err != nil {
		return Published{}, err
	}
	body := p.commentBody(c)
	switch {
	case len(own) == 0 && (c.Body == "" || c.Corrects):
		return Published{}, nil
	case len(own) == 0:
		return p.createComment(ctx, body)
	case c.Body == "" && c.Remove:
		return Published{Changed: true}, p.deleteComments(ctx, own)
	}
	// More than one is what two runs at once left behind.
	if err := p.deleteComments(ctx, own[1:]); err != nil {
		return Published{}, err
	}
	out := Published{URL: own[0].GetHTMLURL(), Changed: len(own) > 1}
	if sameText(own[0].GetBody(), body) {
		return out, nil
	}
	edit := &github.IssueComment{Body: &body}
	_, _, err = p.api.Issues.EditComment(ctx, p.target.Owner, p.target.Repo, own[0].GetID(), edit)
	out.Changed = true
	return out, commenting("edit the comment").fail(err)
}

func commenting(doing string) attempt { return attempt{doing, "pull-requests: write"} }

// commentBody is the marker, the text and the commit, within the limit. GitHub makes a link
// of the commit's name.
func (p *Publisher) commentBody(c Comment) string {
	commit := "\n\n<sub>About the commit " + p.target.HeadSHA + "</sub>\n"
	return p.marked(commentMarker(p.opts.Name), cmp.Or(c.Body, c.Green, defaultGreen), commit)
}

// marked puts a marker before a text and an end behind it, and cuts the text to the limit.
func (p *Publisher) marked(marker, body, end string) string {
	marker += "\n"
	room := MaxComment - utf8.RuneCountInString(marker+end)
	return marker + cut(body, room, utf8.RuneCountInString, cutNote(p.target.DetailsURL)) + end
}

// sameText compares texts as GitHub may return them.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// comments are those of the pull request that hold reports.
func (p *Publisher) comments(ctx context.Context) ([]*github.IssueComment, error) {
	return p.commentsWith(ctx, commentMarker(p.opts.Name))
}

// commentsWith are those of the pull request with a marker of this author, the oldest
// first. Anybody can write the marker, and bots quote what people write: it counts
// only at the beginning of a comment by the token's own login.
func (p *Publisher) commentsWith(ctx context.Context, marker string) ([]*github.IssueComment, error) {
	login, err := p.login(ctx)
	if err != nil {
		return nil, err
	}
	var own []*github.IssueComment
	err = pages(func(page github.ListOptions) (*github.Response, error) {
		opts := &github.IssueListCommentsOptions{ListOptions: page}
		list, resp, err := p.api.Issues.ListComments(ctx, p.target.Owner, p.target.Repo, p.target.Pull, opts)
		for _, c := range list {
			first, _, _ := strings.Cut(c.GetBody(), "\n")
			if strings.EqualFold(c.GetUser().GetLogin(), login) && strings.TrimSpace(first) == marker {
				own = append(own, c)
			}
		}
		return resp, err
	})
	return own, attempt{"list the comments", "pull-requests: read"}.fail(err)
}

// createComment makes a comment that begins with a marker. When it is unknown whether GitHub made it,
// it asks GitHub before it writes again.
func (p *Publisher) createComment(ctx context.Context, body string) (Published, error) {
	var made *github.IssueComment
	marker, _, _ := strings.Cut(body, "\n")
	err := p.carefully(ctx, func() (err error) {
		made, _, err = p.api.Issues.CreateComment(retry.Once(ctx), p.target.Owner, p.target.Repo, p.target.Pull, &github.IssueComment{Body: &body})
		return commenting("comment on the pull request").fail(err)
	}, func() (bool, error) {
		own, err := p.commentsWith(ctx, marker)
		if len(own) > 0 {
			made = own[0]
		}
		return len(own) > 0, err
	})
	if err != nil {
		return Published{}, err
	}
	return Published{Changed: true, URL: made.GetHTMLURL()}, nil
}

// deleteComments deletes comments; one that is gone already is as good.
func (p *Publisher) deleteComments(ctx context.Context, list []*github.IssueComment) error {
	for _, c := range list {
		resp, err := p.api.Issues.DeleteComment(ctx, p.target.Owner, p.target.Repo, c.GetID())
		if resp != nil && resp.StatusCode == 404 {
			continue
		}
		if err := commenting("delete the comment").fail(err); err != nil {
			return err
		}
	}
	return nil
}
