package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is how far a scan has come.
type State string

// States of scans. Queued and running scans are not over.
const (
	Queued     State = "queued"
	Running    State = "running"
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
	Superseded State = "superseded"
)

// Over reports whether nothing more will happen to a scan in this state, unless its process
// died before it could say that its job was done.
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
	// Head, Base and Judged are the object names that were really judged.
	Head   string `json:"head,omitempty"`
	Base   string `json:"base,omitempty"`
	Judged string `json:"judged,omitempty"`
	Ref    string `json:"ref,omitempty"`
	// BaseRef is the branch that a pull request is to be merged into.
	BaseRef string `json:"baseRef,omitempty"`
	State   State  `json:"state"`
	// SupersededBy is the scan that took the place of this one.
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
	// Why is one line: why it failed or was cancelled, or what was left out.
	Why        string `json:"why,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	CheckURL   string `json:"checkURL,omitempty"`
	CommentURL string `json:"commentURL,omitempty"`
	// CheckEnded says that no check run is in progress that the scan, which is over, may have
	// left: GitHub was asked. CheckEnded of a Queue sets it.
	CheckEnded bool `json:"checkEnded,omitempty"`
	// Awaited is since when GitHub was found to have no merge commit of Head with BaseRef; zero
	// when it was never waited for. It stays when the job comes again.
	Awaited time.Time `json:"awaited,omitzero"`
	// HasReport says that Report has its report. The queue sets it.
	HasReport bool      `json:"hasReport,omitempty"`
	Created   time.Time `json:"created"`
	Started   time.Time `json:"started,omitzero"`
	Finished  time.Time `json:"finished,omitzero"`
}

// scanOf is the record of a job that waits.
func scanOf(j Job) Scan {
	return Scan{
		ID: j.ID, Kind: j.Kind, Installation: j.Installation, Repository: j.Repository,
		Owner: j.Owner, Repo: j.Repo, Pull: j.Pull, Head: j.Head, Base: j.Base, Ref: j.Ref,
		State: Queued, Reason: j.Reason, Created: j.Created,
	}
}

// key is where the record is kept.
func (s Scan) key() string {
	return strconv.FormatInt(s.Installation, 10) + "." + strconv.FormatInt(s.Repository, 10) + "." + s.ID
}

// ScanFilter says which scans are wanted; zero values say nothing.
type ScanFilter struct {
	Installation, Repository int64
	// Owner and Repo are a name, in upper or lower case. One that several repositories had
	// is that of all of them.
	Owner, Repo string
	Pull        int
	Head        string
	Kinds       []Kind
	States      []State
	// Before is the id of a scan: only older ones. If there is no such scan, there are no
	// older ones.
	Before string
	// Limit is the most scans to give; 0 is all.
	Limit int
}

// matches reports whether s is wanted, Before and Limit aside.
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

// CountsText returns what a scan found in the words of reports, like "2 denied, 1 warning";
// it is empty when it found nothing.
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
