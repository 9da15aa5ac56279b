package github

import "github.com/google/go-github/v62/github"

// maxIdentifier bounds the identifier of a check run's button, in characters. GitHub has
// the same limit for a label, twice that for a description, and allows three buttons.
const maxIdentifier = 20

// buttons returns the buttons of a completed check run.
func (p *Publisher) buttons() []*github.CheckRunAction {
	if p.opts.Rescan == "" {
		return nil
	}
	return []*github.CheckRunAction{{
		Label: "Scan again", Description: "Has this judged anew, as it is now.", Identifier: p.opts.Rescan,
	}}
}
