package outline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Arrow stands between the places that wrote a field, one after the other.
const Arrow = " -> "

// Chain is the history of an entry's field: `base/web.yaml:14 -> prod/patch.yaml:7`.
// A line in parentheses does not have the field itself. It is empty where there is only
// one place, and where requests of the entry came another way.
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

// SharedChain is the history of an entry's field, if all of its requests have the same.
func (e *Entry) SharedChain() []report.ChainStep {
	for _, f := range e.Also {
		if !slices.Equal(f.Location.Chain, e.Location.Chain) {
			return nil
		}
	}
	return e.Location.Chain
}
