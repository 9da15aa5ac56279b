package github

import (
	"context"
	"fmt"
)

// CheckURL is the page of the check run that was seen or made last, "" before.
func (p *Publisher) CheckURL() string { return p.known.GetHTMLURL() }

// Completed reports whether the check run is complete, with all that Finish or Complete
// gave it. It asks GitHub if Start did not yet.
func (p *Publisher) Completed(ctx context.Context) (bool, error) {
	says, err := p.LastVerdict(ctx)
	return says.Conclusion != "", err
}

// LastVerdict returns the conclusion and title of the check run if it is complete, as
// Completed reports, and nothing otherwise. Pull is the pull request that it was completed for: of several with
// the same head the last one; 0 when it was for a commit, and -1 when that is not known.
func (p *Publisher) LastVerdict(ctx context.Context) (Verdict, error) {
	if !p.asked {
		if _, err := p.find(ctx); err != nil {
			return Verdict{}, err
		}
	}
	have, _ := readMark(p.known.GetExternalID())
	if p.known.GetStatus() != "completed" || have.phase != phaseDone {
		return Verdict{}, nil
	}
	return Verdict{have.pull, Conclusion(p.known.GetConclusion()), p.known.GetOutput().GetTitle()}, nil
}

// End completes the check run if it is in progress, as one is that a process left that
// ended without a word. Where there is none, or it is complete, nothing is written.
func (p *Publisher) End(ctx context.Context, c Check) (Published, error) {
	run, err := p.find(ctx)
	if err != nil || run == nil || run.GetStatus() == "completed" {
		return Published{URL: run.GetHTMLURL()}, err
	}
	return p.Complete(ctx, c)
}

// Amend is Complete for a check run that is there; with Options.Fresh a new one says it.
// Where there is none, nothing is written.
func (p *Publisher) Amend(ctx context.Context, c Check) (Published, error) {
	run, err := p.find(ctx)
	if err != nil || run == nil {
		return Published{}, err
	}
	return p.Renew(ctx, c)
}

// Renew is Complete, with Options.Fresh for a new check run as by Start.
func (p *Publisher) Renew(ctx context.Context, c Check) (Published, error) {
	if p.opts.Fresh {
		if err := p.Start(ctx); err != nil {
			return Published{}, err
		}
	}
	return p.Complete(ctx, c)
}

// Judged sets the target's Ref and RefSHA, which may be known only after Start.
func (p *Publisher) Judged(ref, commit string) error {
	target := p.target
	target.Ref, target.RefSHA = ref, commit
	if err := target.check(); err != nil {
		return fmt.Errorf("publish on GitHub: %w", err)
	}
	p.target = target
	return nil
}
