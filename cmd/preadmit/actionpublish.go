package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/scanner"
)

// publishing tells GitHub of a report, and remembers what it could not.
type publishing struct {
	run *actionRun
	to  *github.Publisher // nil when nothing is asked for, or without a token
	// started, judged, ended and checked say how far the check run is: it is in progress,
	// there is a report for it, it is completed as far as it can be, and it has the
	// report with its annotations.
	started, judged, ended, checked bool

	notices []string
	failed  []error
}

// connect makes the publisher once it is known what is judged.
func (p *publishing) connect() {
	f := p.run.flags
	if !f.checkRun && !f.comment && !f.sarif {
		return
	}
	if p.run.runner.token == "" {
		p.notice("There is no token (github-token), so this is told here only.")
		return
	}
	to, err := github.New(p.run.occasion.target(p.run.runner), github.Options{
		Token: p.run.runner.token, BaseURL: p.run.runner.api, Name: f.name,
	})
	if err != nil {
		p.failed = append(p.failed, err)
		return
	}
	p.to = to
}

// notice remembers something to tell the reader.
func (p *publishing) notice(format string, args ...any) {
	p.notices = append(p.notices, report.Line(fmt.Sprintf(format, args...)))
}

// note takes what became of one thing. It tells whether that is done.
func (p *publishing) note(what string, done github.Published, err error) bool {
	if done.Notice != "" {
		p.notice("%s", done.Notice)
	}
	refused := new(github.Error)
	switch {
	case err == nil:
		return true
	case errors.As(err, &refused) && refused.Degrades():
		p.notice("No %s: %v. See the annotations and the summary of this run.", what, err)
	default:
		p.failed = append(p.failed, err)
	}
	return false
}

// start makes the check run show that the scan goes on.
func (p *publishing) start(ctx context.Context) {
	if p.to != nil && p.run.flags.checkRun {
		p.started = p.note("check run", github.Published{}, p.to.Start(ctx))
	}
}

// abandon completes the check run if it is still in progress: of a scan that failed, or
// of a report that could not be published. What keeps it from that is not told: the
// cause is.
func (p *publishing) abandon(ctx context.Context, cause error) {
	if !p.started || p.ended {
		return
	}
	p.ended = true
	check := github.Check{
		Conclusion: github.Failure, Title: "The scan could not be completed",
		Summary: "Nothing was judged. The log of the run says why.",
	}
	if p.judged {
		check.Title, check.Summary = "The report could not be published", "The log of the run says why."
	}
	if errors.Is(cause, context.Canceled) {
		check.Conclusion, check.Title = github.Cancelled, "Interrupted"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, _ = p.to.Complete(ctx, check) // see above
}

// report publishes what was asked for. Code scanning comes before the check run, which
// remembers what was uploaded.
func (p *publishing) report(ctx context.Context, r *scanner.Report, opts github.CheckOptions, sarif []byte) error {
	if p.to == nil {
		return nil
	}
	p.judged = true
	f := p.run.flags
	if f.sarif {
		p.uploadSARIF(ctx, sarif)
	}
	if p.started {
		summary, err := p.run.markdown(r, github.MaxSummary)
		if err != nil {
			return err
		}
		opts.Summary = summary
		done, err := p.to.Finish(ctx, r, opts)
		if p.note("check run", done, err) {
			p.ended, p.checked = true, !done.Unannotated
		} else {
			p.abandon(ctx, err)
		}
	}
	if f.comment {
		return p.comment(ctx, r, opts.Existing)
	}
	return nil
}

func (p *publishing) uploadSARIF(ctx context.Context, sarif []byte) {
	if p.run.occasion.ref == "" {
		p.notice("No SARIF was uploaded: code scanning knows branches and pull requests only, not %s.", p.run.runner.ref)
		return
	}
	done, err := p.to.UploadSARIF(ctx, sarif)
	p.note("upload of SARIF", done, err)
}

func (p *publishing) comment(ctx context.Context, r *scanner.Report, existing bool) error {
	var c github.Comment
	if github.Speaks(r, existing) {
		body, err := p.run.markdown(r, github.MaxComment)
		if err != nil {
			return err
		}
		c.Body = body
	}
	done, err := p.to.Comment(ctx, c)
	p.note("comment", done, err)
	return nil
}

// failure is what kept the report from being published though the token allows it.
func (p *publishing) failure() error {
	if len(p.failed) == 0 {
		return nil
	}
	return &exitError{code: exitIncomplete, err: fmt.Errorf("the report could not be published: %w", errors.Join(p.failed...))}
}

// noteText are the notices as Markdown. They are fixed text and words of GitHub's
// answers, as code.
func (p *publishing) noteText() string {
	var b strings.Builder
	for _, n := range p.notices {
		b.WriteString("\n" + report.Code(n) + "\n")
	}
	return b.String()
}
