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

// CommentRoom is the limit for writers of a comment. It leaves room for the marker and
// the commit's name.
const CommentRoom = MaxComment - 200

// defaultGreen is the text of the comment when all findings are resolved.
const defaultGreen = ":white_check_mark: **preadmit**: what was told here is resolved.\n"

// Comment is the desired comment of a pull request.
type Comment struct {
	// Body is Markdown of any length, escaped. Text over GitHub's limit is cut, with a
	// count of the lines left out. Empty means that there is nothing to report.
	Body string
	// Green replaces the text of an existing comment when Body is empty. Empty means a
	// default sentence.
	Green string
	// Remove deletes the comment when Body is empty.
	Remove bool
	// Corrects updates an existing comment only and creates none.
	Corrects bool
}

// NeedsComment reports whether a report has something for a comment: findings that are new
// or resolved (with existing, any), or something touched by the change (with existing,
// anything) that could not be judged.
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

// Comment maintains one comment on the pull request: it creates the comment when there is
// something to report, edits it in place when the text differs, and turns it green or
// deletes it when nothing is left. It finds the comment by its author and a hidden marker
// at the beginning. The end names the commit, since a reader may come after a later push.
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
	// Two concurrent runs may have created more than one.
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

// commentBody returns the marker, the text and the commit, within the limit. GitHub turns
// the commit's name into a link.
func (p *Publisher) commentBody(c Comment) string {
	commit := "\n\n<sub>About the commit " + p.target.HeadSHA + "</sub>\n"
	return p.marked(commentMarker(p.opts.Name), cmp.Or(c.Body, c.Green, defaultGreen), commit)
}

// marked returns body between a marker and an end, cut so that all fits the limit.
func (p *Publisher) marked(marker, body, end string) string {
	marker += "\n"
	room := MaxComment - utf8.RuneCountInString(marker+end)
	return marker + cut(body, room, utf8.RuneCountInString, cutNote(p.target.DetailsURL)) + end
}

// sameText reports whether two texts are equal, ignoring the line endings and surrounding
// space that GitHub may change.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// comments returns the comments of the pull request that hold reports.
func (p *Publisher) comments(ctx context.Context) ([]*github.IssueComment, error) {
	return p.commentsWith(ctx, commentMarker(p.opts.Name))
}

// commentsWith returns the comments of the pull request with a marker by this author, the
// oldest first. Anybody can write the marker, and bots quote what people write, so it
// counts only at the beginning of a comment by the token's own login.
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

// createComment creates a comment that begins with a marker. When it is unknown whether
// GitHub created it, createComment lists the comments before it sends the request again.
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

// deleteComments deletes comments. It ignores comments that are already gone.
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
