package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is the state of a scan.
type State string

// States of scans. All but Queued and Running are final; see Over.
const (
	Queued     State = "queued"
	Running    State = "running"
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
	Superseded State = "superseded"
)

// Over reports whether a scan in this state has ended. It only runs again if its process died
// before the end of its job was stored.
func (s State) Over() bool { return s != Queued && s != Running }

// Scan is the record of one job that judges: KindPull, KindGroup or KindPush.
type Scan struct {
	// ID is that of the job.
	ID           string `json:"id"`
	Kind         Kind   `json:"kind"`
	Installation int64  `json:"installation"`
	Repository   int64  `json:"repository"`
	Owner        string `json:"owner,omitempty"`
	Repo         string `json:"repo,omitempty"`
	Private      bool   `json:"private,omitempty"`
	Pull         int    `json:"pull,omitempty"`
	Title        string `json:"title,omitempty"`
	Author       string `json:"author,omitempty"`
	Fork         bool   `json:"fork,omitempty"`
	// Head, Base and Judged are the object names that were actually judged.
	Head   string `json:"head,omitempty"`
	Base   string `json:"base,omitempty"`
	Judged string `json:"judged,omitempty"`
	Ref    string `json:"ref,omitempty"`
	// BaseRef is the branch that a pull request is to be merged into.
	BaseRef string `json:"baseRef,omitempty"`
	State   State  `json:"state"`
	// SupersededBy is the id of the scan that replaced this one.
	SupersededBy string `json:"supersededBy,omitempty"`
	// Stage, Done and Total are the progress of a running scan.
	Stage string `json:"stage,omitempty"`
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	// Conclusion is success, neutral, action_required, failure or cancelled.
	Conclusion    string `json:"conclusion,omitempty"`
	Denied        int    `json:"denied,omitempty"`
	Warned        int    `json:"warned,omitempty"`
	Indeterminate int    `json:"indeterminate,omitempty"`
	// Why is one line: why the scan failed or was cancelled, or what was left out.
	Why        string `json:"why,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	CheckURL   string `json:"checkURL,omitempty"`
	CommentURL string `json:"commentURL,omitempty"`
	// CheckEnded is set if GitHub confirmed that this scan, which is over, left no check run in
	// progress. Queue.CheckEnded sets it.
	CheckEnded bool `json:"checkEnded,omitempty"`
	// Awaited is the time since which GitHub has no merge commit of Head with BaseRef; zero if it
	// was never waited for. It stays when the job is tried again.
	Awaited time.Time `json:"awaited,omitzero"`
	// HasReport is set if Report returns a report. The queue sets it.
	HasReport bool      `json:"hasReport,omitempty"`
	Created   time.Time `json:"created"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
}

// scanOf returns the scan of a waiting job.
func scanOf(j Job) Scan {
	return Scan{
		ID: j.ID, Kind: j.Kind, Installation: j.Installation, Repository: j.Repository,
		Owner: j.Owner, Repo: j.Repo, Pull: j.Pull, Head: j.Head, Base: j.Base, Ref: j.Ref,
		State: Queued, Reason: j.Reason, Created: j.Created,
	}
}

// key returns the key of the record.
func (s Scan) key() string {
	return strconv.FormatInt(s.Installation, 10) + "." + strconv.FormatInt(s.Repository, 10) + "." + s.ID
}

// ScanFilter selects scans; zero values select all.
type ScanFilter struct {
	Installation, Repository int64
	// Owner and Repo are a name, in any case. If several repositories had the name, it selects
	// the scans of all of them.
	Owner, Repo string
	Pull        int
	Head        string
	Kinds       []Kind
	States      []State
	// Before is the id of a scan and selects only older ones. If there is no such scan, none
	// match.
	Before string
	// Limit is the maximum number of scans; 0 means no limit.
	Limit int
}

// matches reports whether s matches all but Before and Limit.
func (f ScanFilter) matches(s *Scan) bool {
	return (f.Installation == 0 || f.Installation == s.Installation) &&
		(f.Repository == 0 || f.Repository == s.Repository) &&
		(f.Owner == "" || strings.EqualFold(f.Owner, s.Owner)) &&
		(f.Repo == "" || strings.EqualFold(f.Repo, s.Repo)) &&
		(f.Pull == 0 || f.Pull == s.Pull) &&
		(f.Head == "" || f.Head == s.Head) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, s.Kind)) &&
		(len(f.States) == 0 || slices.Contains(f.States, s.State))
}

// CountsText returns the counts of a scan's findings in the words of reports, like
// "2 denied, 1 warning"; it is empty without findings.
func (s *Scan) CountsText() string {
	warnings := "warnings"
	if s.Warned == 1 {
		warnings = "warning"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Denied, "denied"}, {s.Warned, warnings}, {s.Indeterminate, "not judged"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, ", ")
}
