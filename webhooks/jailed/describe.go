package jailed

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/report/format/escape"
)

// maxQuoted limits the quotation of a child's output, in bytes.
const maxQuoted = 200

// describe returns why a child died, as a predicate for "the process", and whether a limit
// ended it.
func (l *Limits) describe(end jail.Ended) (why string, limit bool) {
	memory := fmt.Sprintf("took more than the %s of memory it may have", bytesText(l.Memory))
	switch {
	case errors.Is(end.Cause, jail.ErrMemory):
		return memory, true
	case errors.Is(end.Cause, errSlow):
		return fmt.Sprintf("was at it for more than %v", l.Root), true
	case errors.Is(end.Cause, errWall):
		return fmt.Sprintf("took longer than the %v a scan may", l.Wall), true
	case end.Cause != nil:
		return escape.Line(end.Cause.Error()), true
	case end.Signal == "SIGKILL" && end.CPU >= l.CPU/4*3: // on a busy machine the kernel reports less time than it counts
		return fmt.Sprintf("used more than %v of processor time", l.CPU), true
	case strings.Contains(end.Output, "stack exceeds"), strings.Contains(end.Output, "stack overflow"):
		return "overflowed its stack", false
	case strings.Contains(end.Output, "out of memory"), strings.Contains(end.Output, "cannot allocate memory"):
		return memory, true
	case end.Signal != "":
		return "was ended by the signal " + end.Signal, false
	}
	if said := firstLine(end.Output); said != "" {
		return "died: " + said, false
	}
	return fmt.Sprintf("ended with code %d and no report", end.Code), false
}

// firstLine returns the first line of a child's output, safe to show.
func firstLine(said string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return escape.Line(clip(strings.TrimSpace(line), maxQuoted))
}

// clip shortens text to at most n bytes and an ellipsis, between characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// bytesText returns a number of bytes as text for people.
func bytesText(n int64) string {
	if n%(1<<30) == 0 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// text returns text of several lines in a form that is safe to show.
func text(s string) string { return strings.Join(escape.GuardedLines(s), "\n") }
