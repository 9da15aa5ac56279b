package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/github"
)

// publishing publishes a report on GitHub.
type publishing struct {
	run *run
	*github.Publication
	// judged is set when there is a report.
	judged bool
	// unreachable is the error if a publisher is needed but could not be created.
	unreachable error
}

// newPublishing returns a publishing without a publisher, which only collects notes.
func newPublishing(run *run) *publishing {
	return &publishing{run: run, Publication: github.NewPublication(nil, github.Places{}, "")}
}

// connect creates the publisher, once the judged commit is known.
func (p *publishing) connect() {
	f := p.run.flags
	places := github.Places{CheckRun: f.checkRun, Comment: f.comment, SARIF: f.sarif}
	if places == (github.Places{}) {
		return
	}
	if p.run.runner.token == "" {
		p.AddNote("There is no token (github-token), so this is reported here only.")
		return
	}
	to, err := github.New(p.run.trigger.target(p.run.runner), github.Options{
		Token: p.run.runner.token, BaseURL: p.run.runner.api, Name: f.name,
	})
	if err != nil {
		p.unreachable = err
		return
	}
	if places.SARIF && p.run.trigger.ref == "" {
		p.AddNote("No SARIF was uploaded: code scanning knows branches and pull requests only, not %s.", p.run.runner.ref)
		places.SARIF = false
	}
	p.Connect(to, places, "See the annotations and the summary of this run.")
}

// abandon completes the check run if it is still in progress, because the scan failed or
// the report could not be published.
func (p *publishing) abandon(ctx context.Context, cause error) {
	check := github.Check{
		Conclusion: github.Failure, Title: "The scan could not be completed",
		Summary: "Nothing was judged. The reason is in the log of the run.",
	}
	if p.judged {
		check.Title, check.Summary = "The report could not be published", "The reason is in the log of the run."
	}
	if errors.Is(cause, context.Canceled) {
		check.Conclusion, check.Title = github.Cancelled, "Interrupted"
	}
	_ = p.Abandon(ctx, check) // the run already fails with cause
}

// report publishes the report in the places that the flags select.
func (p *publishing) report(ctx context.Context, r *report.Report, opts github.CheckOptions, sarif []byte) error {
	p.judged = true
	c := &github.Content{Report: r, Check: opts, SARIF: sarif, Blob: p.run.blob()}
	if err := p.Publish(ctx, c); err != nil {
		return err
	}
	if err := p.Finish(ctx, c); err != nil {
		return err
	}
	p.abandon(ctx, p.Err())
	return nil
}

// failure returns the error that prevented publishing although the token allows it.
func (p *publishing) failure() error {
	err := p.Err()
	if err == nil && p.unreachable != nil {
		err = fmt.Errorf("the report could not be published: %w", p.unreachable)
	}
	if err == nil {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitIncomplete, Err: err}
}

// blob returns the URL of the judged files, for links to the lines in the report.
func (a *run) blob() string {
	return fmt.Sprintf("%s/blob/%s/", a.runner.repositoryURL(), cmp.Or(a.trigger.judged, a.trigger.headSHA))
}
