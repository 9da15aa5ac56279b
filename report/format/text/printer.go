package text

import (
	"bufio"
	"slices"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/terminal"
)

func clampWidth(w int) int {
	if w <= 0 {
		return 80
	}
	return min(max(w, 40), 120)
}

// printer writes lines of text. All texts passed to it must be escaped.
type printer struct {
	w     *bufio.Writer
	opts  Options
	width int
	// compared is set when there is a base, so that the status of findings is shown.
	compared bool
	// begun is set once something was written, so that the next section starts with a
	// blank line.
	begun bool
	// before counts the roots that did not render before the change either, by the place of
	// the error; see outline.NoBetterBefore.
	before map[string]int
	// closing is set once the first of the closing lines is written.
	closing bool
	err     error
}

// line writes one line. It guards the text of the whole line against workflow commands,
// and uses the colours of spans only if this does not change the text.
func (p *printer) line(spans ...span) {
	p.begun = true
	spans = trimEnd(spans)
	unguarded := bare(spans)
	text := escape.Guard(unguarded)
	if p.opts.Color && text == unguarded {
		text = paint(spans)
	}
	if _, err := p.w.WriteString(text + "\n"); err != nil {
		p.err = err
	}
}

// block writes text wrapped with a hanging indent. lead is written before it on the
// first line.
func (p *printer) block(lead []span, hang int, style style, text string) {
	used := 0
	for _, s := range lead {
		used += terminal.Width(s.text)
	}
	for i, l := range terminal.Wrap(text, p.width, used, hang) {
		if i == 0 {
			p.line(append(slices.Clone(lead), span{l, style})...)
			continue
		}
		p.line(blanks(hang), span{l, style})
	}
}

// heading starts a section.
func (p *printer) heading(spans ...span) {
	if p.begun {
		p.line()
	}
	p.line(spans...)
}
