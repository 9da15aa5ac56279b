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
)

// Places are where a report is published.
type Places struct{ CheckRun, Comment, SARIF bool }

// Content is a report and all texts that are published of it.
type Content struct {
	Report *report.Report
	// Check says what the check run gets. Its Summary is filled in.
	Check CheckOptions
	// SARIF is the file for code scanning.
	SARIF []byte
	// Blob is the URL of the judged files, for links; see report.Options.
	Blob string
}

// Publication publishes one report in all the places that are wanted. What the token
// or the repository does not allow is left out, and becomes a notice; what fails
// otherwise is kept for Err. Start comes first, then Publish, and Finish last, so that a
// check run that is complete says that everything is there, or what is not.
type Publication struct {
	to        *Publisher
	places    Places
	elsewhere string

	notes                     []string
	failed                    []error
	started, ended, annotated bool
	comment                   string
}

// NewPublication makes a publication by a publisher, which may be nil: nothing is
// published then. elsewhere is a sentence on where a reader finds what is left out.
func NewPublication(to *Publisher, places Places, elsewhere string) *Publication {
	return &Publication{to: to, places: places, elsewhere: elsewhere}
}

// Connect returns a publication that was made without a publisher what NewPublication
// takes. It comes before Start.
func (p *Publication) Connect(to *Publisher, places Places, elsewhere string) {
	p.to, p.places, p.elsewhere = to, places, elsewhere
}

// Notes are what a reader should know besides the report, a line each.
func (p *Publication) Notes() []string { return p.notes }

// Started reports whether there is a check run to finish.
func (p *Publication) Started() bool { return p.started }

// Ended reports whether the check run is complete, with the report or what Abandon said.
func (p *Publication) Ended() bool { return p.ended }

// Annotated reports whether the check run has the report with its annotations.
func (p *Publication) Annotated() bool { return p.annotated }

// CommentURL is the page of the comment, "" when there is none.
func (p *Publication) CommentURL() string { return p.comment }

// Err is what kept the report from being published though the token allows it.
func (p *Publication) Err() error {
	if len(p.failed) == 0 {
		return nil
	}
	return fmt.Errorf("the report could not be published: %w", errors.Join(p.failed...))
}

// AddNote adds something that the reader should know.
func (p *Publication) AddNote(text string, args ...any) {
	p.notes = append(p.notes, escape.Line(fmt.Sprintf(text, args...)))
}

// NotesText are the notes as Markdown. They are fixed text and words of GitHub's
// answers, as code.
func (p *Publication) NotesText() string {
	var b strings.Builder
	for _, n := range p.notes {
		b.WriteString("\n" + escape.CodeSpan(n) + "\n")
	}
	return b.String()
}

// record keeps what became of one thing. It reports whether that is done.
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

// Start makes the check run show that the scan goes on.
func (p *Publication) Start(ctx context.Context) {
	if p.to != nil && p.places.CheckRun {
		p.started = p.record("check run", Published{}, p.to.Start(ctx))
	}
}

// Publish publishes everywhere but in the check run. It keeps what code scanning has,
// and what is missing. Its error is a report that cannot be written.
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

// Finish completes the check run. When that fails it is left for Abandon. Its error is
// a report that cannot be written.
func (p *Publication) Finish(ctx context.Context, c *Content) error {
	if !p.started {
		return nil
	}
	notes := p.NotesText()
	summary, err := Markdown(c.Report, c.Blob, c.Check.Existing, MaxSummary-len(notes))
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

// Abandon completes the check run with something else if it is still in progress, also
// when ctx is over. Its error is what kept it from that: an older verdict may stand there
// then. It may be called again.
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

// Markdown is a report in at most limit bytes, if it has so little to say that there is
// a way. blob is the URL of the judged files, for links; with existing, what the base has
// too counts.
func Markdown(r *report.Report, blob string, existing bool, limit int) (string, error) {
	opts := format.Options{Blob: blob, Existing: existing}
	// The format counts characters, which take up to four bytes.
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
