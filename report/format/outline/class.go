package outline

import (
	"fmt"

	"github.com/preadmit/preadmit/report"
)

// Class is what a finding is to a reader. All formats use its words.
type Class string

const (
	// Error is a root that does not render.
	Error Class = "error"
	// Denied is refused by the API server.
	Denied Class = "denied"
	// WouldBeDenied is refused once the policies that the change proposes are in force.
	WouldBeDenied Class = "would be denied"
	// Warning is let pass with a warning.
	Warning Class = "warning"
	// Audited is let pass with a note in the audit log.
	Audited Class = "audited"
)

// NotJudged is the word for what could not be judged.
const NotJudged = "not judged"

// Classes lists all classes, the worst first.
func Classes() []Class { return []Class{Error, Denied, WouldBeDenied, Warning, Audited} }

// ClassOf returns the class of a finding.
func ClassOf(f *report.Finding) Class {
	switch {
	case f.Action == report.ActionError || f.Cause == report.CauseRender:
		return Error
	case f.Action == report.ActionDeny && f.Policies == report.PoliciesProposed:
		return WouldBeDenied
	case f.Action == report.ActionDeny:
		return Denied
	case f.Action == report.ActionWarn:
		return Warning
	}
	return Audited
}

// Denies reports whether what is of the class is refused.
func (c Class) Denies() bool { return c == Error || c == Denied || c == WouldBeDenied }

// Title is the class at the beginning of a title.
func (c Class) Title() string {
	if c == "" {
		return ""
	}
	return string(c[0]-'a'+'A') + string(c[1:])
}

// Level is that of SARIF.
func (c Class) Level() string {
	switch {
	case c.Denies():
		return "error"
	case c == Warning:
		return "warning"
	}
	return "note"
}

// counted is like "3 denied".
func (c Class) counted(n int) string {
	switch c {
	case Error, Warning:
		return Count(n, string(c))
	case WouldBeDenied:
		return fmt.Sprintf("%d would be denied if the proposed policies were in force", n)
	}
	return fmt.Sprintf("%d %s", n, c)
}
