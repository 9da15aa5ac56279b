package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// Places selects where a report is published.
type Places struct{ CheckRun, Comment, SARIF bool }

// Content is a report with all texts that are published for it.
type Content struct {
	Report *report.Report
	// Check configures the check run. Finish sets its Summary.
	Check CheckOptions
	// SARIF is the file for code scanning.
	SARIF []byte
	// Blob is the URL of the judged files, for links; see report.Options.
	Blob string
}

// Publication publishes one report in all selected places. A place that the token or the
// repository does not allow is left out and becomes a note; other failures are kept for
// Err. Call Start first, then Publish, and Finish last, so that a completed check run
// means that everything is published, apart from what its notes list.
type Publication struct {
	to        *Publisher
	places    Places
	elsewhere string

	notes                     []string
	failed                    []error
	started, ended, annotated bool
	comment                   string
}

// NewPublication returns a publication that uses a publisher. If it is nil, nothing is
// published. elsewhere is a sentence on where a reader finds what is left out.
func NewPublication(to *Publisher, places Places, elsewhere string) *Publication {
	return &Publication{to: to, places: places, elsewhere: elsewhere}
}

// Connect sets the arguments of NewPublication on a publication that was created without a
// publisher. It must be called before Start.
func (p *Publication) Connect(to *Publisher, places Places, elsewhere string) {
	p.to, p.places, p.elsewhere = to, places, elsewhere
}

// Notes returns remarks for the reader besides the report, one line each.
func (p *Publication) Notes() []string { return p.notes }

// Started reports whether there is a check run to finish.
func (p *Publication) Started() bool { return p.started }

// Ended reports whether the check run is complete, with the report or the check of Abandon.
func (p *Publication) Ended() bool { return p.ended }

// Annotated reports whether the check run has the report with its annotations.
func (p *Publication) Annotated() bool { return p.annotated }

// CommentURL returns the page of the comment, "" when there is none.
func (p *Publication) CommentURL() string { return p.comment }

// Err returns the failures other than missing permissions, nil if there are none.
func (p *Publication) Err() error {
	if len(p.failed) == 0 {
		return nil
	}
	return fmt.Errorf("the report could not be published: %w", errors.Join(p.failed...))
}

// AddNote adds a remark for the reader.
func (p *Publication) AddNote(text string, args ...any) {
	p.notes = append(p.notes, escape.Line(fmt.Sprintf(text, args...)))
}

// NotesText returns the notes as Markdown code spans. They consist of fixed text and of
// messages from GitHub's responses.
func (p *Publication) NotesText() string {
	var b strings.Builder
	for _, n := range p.notes {
		b.WriteString("\n" + escape.CodeSpan(n) + "\n")
	}
	return b.String()
}

// record records the result of publishing in one place, and reports whether it succeeded.
func (p *Publication) record(what string, done Published, err error) bool {
	if done.Note != "" {
		p.AddNote("%s", done.Note)
	}
	var refused *Error
	switch {
	case err == nil:
		return true
	case errors.As(err, &refused) && refused.Degrades():
		p.AddNote("No %s: %v. %s", what, err, p.elsewhere)
	default:
		p.failed = append(p.failed, err)
	}
	return false
}

// Start makes the check run show that the scan is in progress.
func (p *Publication) Start(ctx context.Context) {
	if p.to != nil && p.places.CheckRun {
		p.started = p.record("check run", Published{}, p.to.Start(ctx))
	}
}

// Publish publishes in all places except the check run. It records failures and notes, and
// returns an error only if the report cannot be written as Markdown.
func (p *Publication) Publish(ctx context.Context, c *Content) error {
	if p.to == nil {
		return nil
	}
	if p.places.SARIF {
		done, err := p.to.UploadSARIF(ctx, c.SARIF)
		p.record("upload of SARIF", done, err)
	}
	if !p.places.Comment {
		return nil
	}
	var text Comment
	if NeedsComment(c.Report, c.Check.Existing) {
		body, err := Markdown(c.Report, c.Blob, c.Check.Existing, CommentRoom)
		if err != nil {
			return err
		}
		text.Body = body
	}
	done, err := p.to.Comment(ctx, text)
	p.record("comment", done, err)
	p.comment = done.URL
	return nil
}

// Finish completes the check run. If that fails, Abandon can still complete it. Finish
// returns an error only if the report cannot be written as Markdown.
func (p *Publication) Finish(ctx context.Context, c *Content) error {
	if !p.started {
		return nil
	}
	notes := p.NotesText()
	summary, err := Markdown(c.Report, c.Blob, c.Check.Existing, SummaryRoom-len(notes)-p.beside(c))
	if err != nil {
		return err
	}
	opts := c.Check
	opts.Summary = summary + notes
	done, err := p.to.Finish(ctx, c.Report, opts)
	if p.record("check run", done, err) {
		p.ended, p.annotated = true, !done.Unannotated
	}
	return nil
}

// beside returns the length of the text on other pull requests that Check.Beside adds to a summary.
func (p *Publication) beside(c *Content) int {
	check := Check{Conclusion: ActionRequired, Title: outline.CountsOf(c.Report, c.Check.Existing).Headline()}
	return len(check.Beside(p.to.target.Pull, c.Check.Others).Summary)
}

// Abandon completes the check run with another check if it is still in progress, also when
// ctx has ended. After an error, the check run may still show an older verdict. Abandon may
// be called again.
func (p *Publication) Abandon(ctx context.Context, check Check) error {
	if !p.started || p.ended {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := p.to.Complete(ctx, check)
	p.ended = err == nil
	return err
}

// Markdown returns a report as Markdown in at most limit bytes, if it can be shortened that
// far; a limit below 1 is 1. blob is the URL of the judged files, for links. With existing,
// findings that the base has too are included.
func Markdown(r *report.Report, blob string, existing bool, limit int) (string, error) {
	limit = max(1, limit) // the format takes 0 for no limit
	opts := format.Options{Blob: blob, Existing: existing}
	// The format's limit is in characters, which take up to four bytes each.
	for opts.Limit = limit; ; opts.Limit -= opts.Limit / 4 {
		var b bytes.Buffer
		if err := format.Write(&b, "markdown", r, opts); err != nil {
			return "", err
		}
		if b.Len() <= limit || opts.Limit < limit/4 {
			return b.String(), nil
		}
	}
}
