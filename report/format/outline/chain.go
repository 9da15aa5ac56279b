package outline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Arrow separates the places of a chain.
const Arrow = " -> "

// Chain returns the places that wrote an entry's field: `base/web.yaml:14 -> prod/patch.yaml:7`.
// A line in parentheses does not have the field itself. The chain is empty if there is only
// one place, or if the requests of the entry have different chains.
func (e *Entry) Chain(verbose bool) string {
	var places []string
	for _, step := range e.SharedChain() {
		text := escape.Text(step.Path)
		if step.StartLine > 0 {
			text += ":" + strconv.Itoa(step.StartLine)
		}
		if step.Absent {
			text = "(" + text + ")"
		}
		if kind := escape.Text(step.Kind); kind != "" && verbose {
			text += " " + kind
		}
		places = append(places, text)
	}
	return strings.Join(places, Arrow)
}

// SharedChain returns the chain of an entry's field, nil if its requests have different chains.
func (e *Entry) SharedChain() []report.ChainStep {
	for _, f := range e.Also {
		if !slices.Equal(f.Location.Chain, e.Location.Chain) {
			return nil
		}
	}
	return e.Location.Chain
}
