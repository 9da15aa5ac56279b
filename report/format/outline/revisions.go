package outline

import (
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// MadeBy says by what and of what the report is.
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

// Revision is the name the user gave, with the start of the commit it stands for.
func Revision(r report.Revision) string {
	commit := escape.Text(r.Commit)
	if commit == "" || strings.HasPrefix(r.Commit, r.Name) && r.Name != "" {
		return escape.Text(r.Name)
	}
	return escape.Text(r.Name) + " (" + clipCommit(commit) + ")"
}

func clipCommit(commit string) string { return commit[:min(len(commit), 12)] }
