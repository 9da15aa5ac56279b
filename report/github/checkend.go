package github

import (
	"context"
	"fmt"
)

// CheckURL returns the page of the check run that was found or created last, "" if there is none.
func (p *Publisher) CheckURL() string { return p.known.GetHTMLURL() }

// Completed reports whether the check run is complete, with everything that Finish or Complete
// writes. It requests the check run from GitHub if Start has not done so yet.
func (p *Publisher) Completed(ctx context.Context) (bool, error) {
	last, err := p.LastVerdict(ctx)
	return last.Conclusion != "", err
}

// LastVerdict returns the conclusion and title of the check run if it is complete in the
// sense of Completed, otherwise the zero Verdict. Pull is the pull request that the run was
// completed for, the last one if several have the same head; 0 for a commit without a pull
// request, and -1 when it is not known.
func (p *Publisher) LastVerdict(ctx context.Context) (Verdict, error) {
	if !p.queried {
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

// End completes the check run if it is still in progress, for example because the process
// that started it was killed. If there is no check run or it is complete, End writes nothing.
func (p *Publisher) End(ctx context.Context, c Check) (Published, error) {
	run, err := p.find(ctx)
	if err != nil || run == nil || run.GetStatus() == "completed" {
		return Published{URL: run.GetHTMLURL()}, err
	}
	return p.Complete(ctx, c)
}

// Amend is Complete for an existing check run; with Options.Fresh it completes a new one.
// If there is no check run, Amend writes nothing.
func (p *Publisher) Amend(ctx context.Context, c Check) (Published, error) {
	run, err := p.find(ctx)
	if err != nil || run == nil {
		return Published{}, err
	}
	return p.Renew(ctx, c)
}

// Renew is Complete; with Options.Fresh it calls Start first, which creates a new check run.
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
