package outline

import (
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// MadeBy returns the tool that wrote the report, and the revisions it is about.
func MadeBy(r *report.Report) string {
	s := escape.Text(Join(" ", r.Tool.Name, r.Tool.Version))
	if r.Tool.Kubernetes != "" {
		s += ", as Kubernetes " + escape.Text(r.Tool.Kubernetes)
	}
	if r.Change.Base != nil {
		return s + ": " + Revision(*r.Change.Base) + " to " + Revision(r.Change.Head)
	}
	return s + ": " + Revision(r.Change.Head)
}

// Revision returns the name that the user gave, with the abbreviated commit.
func Revision(r report.Revision) string {
	commit := escape.Text(r.Commit)
	if commit == "" || strings.HasPrefix(r.Commit, r.Name) && r.Name != "" {
		return escape.Text(r.Name)
	}
	return escape.Text(r.Name) + " (" + clipCommit(commit) + ")"
}

func clipCommit(commit string) string { return commit[:min(len(commit), 12)] }
