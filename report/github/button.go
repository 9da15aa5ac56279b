package github

import "github.com/google/go-github/v62/github"

// maxIdentifier bounds the identifier of a check run's button, in characters. GitHub takes
// as much of a label, twice of a description, and three buttons.
const maxIdentifier = 20

// buttons are those of a check run that is complete.
func (p *Publisher) buttons() []*github.CheckRunAction {
	if p.opts.Rescan == "" {
		return nil
	}
	return []*github.CheckRunAction{{
		Label: "Scan again", Description: "Has this judged anew, as it is now.", Identifier: p.opts.Rescan,
	}}
}
