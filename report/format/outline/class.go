package outline

import (
	"fmt"

	"github.com/preadmit/preadmit/report"
)

// Class classifies a finding for readers. All formats use its words.
type Class string

const (
	// Error: a root does not render.
	Error Class = "error"
	// Denied: the API server refuses the request.
	Denied Class = "denied"
	// WouldBeDenied: the request is refused once the proposed policies are in force.
	WouldBeDenied Class = "would be denied"
	// Warning: the request is allowed with a warning.
	Warning Class = "warning"
	// Audited: the request is allowed with an audit annotation.
	Audited Class = "audited"
)

// NotJudged is the text for indeterminates.
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

// Denies reports whether a finding of the class is a refusal or an error.
func (c Class) Denies() bool { return c == Error || c == Denied || c == WouldBeDenied }

// Title returns the class with a capital letter, for the beginning of a title.
func (c Class) Title() string {
	if c == "" {
		return ""
	}
	return string(c[0]-'a'+'A') + string(c[1:])
}

// Level returns the SARIF level of the class.
func (c Class) Level() string {
	switch {
	case c.Denies():
		return "error"
	case c == Warning:
		return "warning"
	}
	return "note"
}

// counted returns a text like "3 denied".
func (c Class) counted(n int) string {
	switch c {
	case Error, Warning:
		return Count(n, string(c))
	case WouldBeDenied:
		return fmt.Sprintf("%d would be denied if the proposed policies were in force", n)
	}
	return fmt.Sprintf("%d %s", n, c)
}
