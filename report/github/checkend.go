package github

import "context"

// CheckURL is the page of the check run that was seen or made last, "" before.
func (p *Publisher) CheckURL() string { return p.known.GetHTMLURL() }

// Completed asks GitHub whether the newest check run is there and complete, with all
// that Finish or Complete gave it.
func (p *Publisher) Completed(ctx context.Context) (bool, error) {
	run, err := p.find(ctx)
	have, _ := readMark(run.GetExternalID())
	return run.GetStatus() == "completed" && have.phase == phaseDone, err
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
