package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report"
)

// Published is the result of publishing one thing.
type Published struct {
	// Changed is false when GitHub already had the content and nothing was written.
	Changed bool
	// URL is the page that shows it, "" when there is none.
	URL string
	// Note is a remark for the reader, "" when there is nothing unusual.
	Note string
	// Unannotated is true for a check run that is complete but has no annotations. Note
	// has the reason.
	Unannotated bool
}

// Start finds or creates the check run that Finish will complete, so that it shows
// that preadmit is at work. Start leaves a completed run unchanged until Finish has
// different content, unless Options.Fresh or Options.Doubt requires a new run. A completed
// run with the target's DetailsURL is that new run: an earlier process created it.
func (p *Publisher) Start(ctx context.Context) error {
	run, err := p.find(ctx)
	if err != nil {
		return err
	}
	if run != nil {
		if again, err := p.again(ctx, run); err != nil || !again {
			return err
		}
	}
	return p.create(ctx)
}

// again reports whether Start creates a new check run although run exists.
func (p *Publisher) again(ctx context.Context, run *github.CheckRun) (bool, error) {
	page := run.GetDetailsURL()
	switch {
	case run.GetStatus() != "completed", p.target.DetailsURL != "" && page == p.target.DetailsURL:
		return false, nil
	case p.opts.Fresh:
		return true, nil
	case p.opts.Doubt == nil || Conclusion(run.GetConclusion()).blocks():
		return false, nil
	}
	return p.opts.Doubt(ctx, page)
}

// Finish completes the check run with a report. For a pull request, if opts.Files is nil
// and there is something to annotate, Finish lists the files itself. If GitHub refuses to
// list them, the run is completed without annotations. If GitHub lists only the first
// MaxFiles, it is not known whether other places are in files of the pull request. Finish
// creates the run if Start was not called.
func (p *Publisher) Finish(ctx context.Context, r *report.Report, opts CheckOptions) (Published, error) {
	var refused *Error
	complete := true
	if places, _ := choose(r, &opts); len(places) > 0 && opts.Files == nil && p.target.Pull > 0 {
		files, all, err := p.files(ctx)
		if err != nil && (!errors.As(err, &refused) || !refused.Degrades()) {
			return Published{}, err
		}
		opts.Files, complete = files, all
	}
	if refused != nil {
		opts.Files = map[string]bool{}
	}
	check, err := NewCheck(r, opts)
	if err != nil {
		return Published{}, err
	}
	check = check.Beside(p.target.Pull, opts.Others)
	if refused != nil || !complete {
		check.Hidden, check.Unlisted = 0, check.Hidden
	}
	if refused == nil {
		return p.Complete(ctx, check)
	}
	done, err := p.Complete(ctx, check)
	if err != nil {
		return Published{}, err
	}
	done.Unannotated = true
	done.Note = fmt.Sprintf("The check run has no annotations: %v.", refused)
	return done, nil
}

// Complete is Finish for content that does not come from a report, such as a failed scan.
// A check run that already has this content stays unchanged. One with other content is
// updated, or superseded by a new run if it has annotations, which cannot be removed.
func (p *Publisher) Complete(ctx context.Context, c Check) (Published, error) {
	if !p.queried {
		if _, err := p.find(ctx); err != nil {
			return Published{}, err
		}
	}
	have, _ := readMark(p.known.GetExternalID())
	if p.sarif == none && have.sarif != "" {
		p.sarif = have.sarif // code scanning still has it
	}
	want := mark{phaseDone, c.digest(), p.sarif, p.target.Pull}
	if p.known.GetStatus() == "completed" && have.phase == phaseDone && have.content == want.content {
		return p.remark(ctx, have, want)
	}
	done, err := p.resume(ctx, want)
	if err != nil {
		return Published{}, err
	}
	err = p.write(ctx, c, want, done)
	return Published{Changed: err == nil, URL: p.known.GetHTMLURL()}, err
}

// remark updates the mark and details URL of a check run whose content is already right.
func (p *Publisher) remark(ctx context.Context, have, want mark) (Published, error) {
	if have == want {
		return Published{URL: p.known.GetHTMLURL()}, nil
	}
	o := github.UpdateCheckRunOptions{ExternalID: github.String(want.String())}
	if have.pull != want.pull && p.target.DetailsURL != "" { // the page belongs to another pull request too
		o.DetailsURL = github.String(p.target.DetailsURL)
	}
	err := p.patch(ctx, o, 0)
	return Published{Changed: err == nil, URL: p.known.GetHTMLURL()}, err
}

// resume sets p.known to a run that can be written to, and returns the number of its annotations.
func (p *Publisher) resume(ctx context.Context, want mark) (done int, err error) {
	have, _ := readMark(p.known.GetExternalID())
	count := p.known.GetOutput().GetAnnotationsCount()
	switch {
	case p.known == nil:
	case count == 0:
		return 0, nil
	case p.known.GetStatus() == "completed":
	case have.phase == phasePartial && have.content == want.content:
		return count, nil
	default:
		if err := p.supersede(ctx); err != nil {
			return 0, err
		}
	}
	return 0, p.create(ctx)
}

// supersede completes a run that has annotations of other content.
func (p *Publisher) supersede(ctx context.Context) error {
	return p.patch(ctx, github.UpdateCheckRunOptions{
		Status:     github.String("completed"),
		Conclusion: github.String(string(Cancelled)),
		Output:     output("Superseded", "Another run of preadmit judges this commit."),
	}, 0)
}

// write sends the annotations in batches, and everything else with the last batch.
func (p *Publisher) write(ctx context.Context, c Check, want mark, done int) error {
	all := wireAnnotations(c.Annotations[:min(len(c.Annotations), MaxAnnotations)])
	for len(all)-done > MaxBatch {
		o := github.UpdateCheckRunOptions{
			ExternalID: github.String(mark{phasePartial, want.content, none, want.pull}.String()),
			Output:     output("Annotating", fmt.Sprintf("%d places.", len(all))),
		}
		o.Output.Annotations = all[done : done+MaxBatch]
		done += MaxBatch
		if err := p.patch(ctx, o, done); err != nil {
			return err
		}
	}
	summary, text := c.fit(p.target.DetailsURL)
	o := github.UpdateCheckRunOptions{
		Status:      github.String("completed"),
		Conclusion:  github.String(string(c.Conclusion)),
		CompletedAt: &github.Timestamp{Time: p.opts.Clock.Now().UTC()},
		ExternalID:  github.String(want.String()),
		Output:      output(clip(c.Title, maxTitle), summary),
		Actions:     p.buttons(),
	}
	if text != "" {
		o.Output.Text = github.String(text)
	}
	if p.target.DetailsURL != "" { // the run may have been created with another page
		o.DetailsURL = github.String(p.target.DetailsURL)
	}
	o.Output.Annotations = all[min(done, len(all)):]
	return p.patch(ctx, o, len(all))
}

func output(title, summary string) *github.CheckRunOutput {
	return &github.CheckRunOutput{Title: github.String(title), Summary: github.String(summary)}
}

func wireAnnotations(list []Annotation) []*github.CheckRunAnnotation {
	out := make([]*github.CheckRunAnnotation, 0, len(list))
	for _, a := range list {
		w := &github.CheckRunAnnotation{
			Path: github.String(a.Path), StartLine: github.Int(a.StartLine), EndLine: github.Int(a.EndLine),
			AnnotationLevel: github.String(string(a.Level)), Message: github.String(a.Message),
		}
		if a.StartColumn > 0 && a.StartLine == a.EndLine {
			w.StartColumn, w.EndColumn = github.Int(a.StartColumn), github.Int(max(a.StartColumn, a.EndColumn))
		}
		if a.Title != "" {
			w.Title = github.String(a.Title)
		}
		if a.Details != "" {
			w.RawDetails = github.String(a.Details)
		}
		out = append(out, w)
	}
	return out
}
