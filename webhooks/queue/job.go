package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of a job.
type Kind string

// Kinds of jobs.
const (
	// KindPull brings pull request Pull up to date; if it was closed, its work is cancelled.
	KindPull Kind = "pull"
	// KindGroup judges the merge group Base..Head.
	KindGroup Kind = "merge-group"
	// KindPush judges the default branch, as the baseline of code scanning.
	KindPush Kind = "push"
	// KindCommand executes the command in an issue comment.
	KindCommand Kind = "command"
	// KindResolve looks up the pull requests of commit Head, whose check was requested again.
	KindResolve Kind = "resolve"
	// KindInstallation enqueues the open pull requests of added repositories.
	KindInstallation Kind = "installation"
	// KindForget removes the data of an installation or of removed repositories.
	KindForget Kind = "forget"
)

// Judges reports whether jobs of the kind judge a change, and so have scan records.
func (k Kind) Judges() bool { return k == KindPull || k == KindGroup || k == KindPush }

// Job is a unit of work. It is stored as JSON; older replicas ignore fields that newer ones
// added.
type Job struct {
	// ID identifies the job, and its scan if it judges. If it is empty, Enqueue sets a UUIDv7.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Installation and Repository are GitHub's ids. Unlike names they survive renames.
	Installation int64  `json:"installation"`
	Repository   int64  `json:"repository,omitempty"`
	Owner        string `json:"owner,omitempty"`
	Repo         string `json:"repo,omitempty"`
	Pull         int    `json:"pull,omitempty"`
	// Head, Base and Ref are the object names and the ref of the event. They are hints,
	// except for KindGroup and KindResolve.
	Head string `json:"head,omitempty"`
	Base string `json:"base,omitempty"`
	Ref  string `json:"ref,omitempty"`
	// Fresh requests a new scan although there is a verdict. A job that supersedes a fresh
	// one is fresh as well.
	Fresh bool `json:"fresh,omitempty"`
	// Cancel means that a merge group was destroyed.
	Cancel bool `json:"cancel,omitempty"`
	// Command is the first line of the comment numbered Comment, and Sender its author.
	Command string `json:"command,omitempty"`
	Sender  string `json:"sender,omitempty"`
	Comment int64  `json:"comment,omitempty"`
	// Approved is the commit of a fork that Sender approved, or "". A job that supersedes this
	// one keeps it, with Command and Sender.
	Approved string `json:"approved,omitempty"`
	// Repositories are those of KindInstallation and KindForget; none means all of the
	// installation.
	Repositories []int64 `json:"repositories,omitempty"`
	// Reason is the event that caused the job, like "pull_request.synchronize" or "api".
	Reason string `json:"reason,omitempty"`
	// Delivery is the GUID of the delivery that caused the job; empty without one.
	Delivery string `json:"delivery,omitempty"`
	// Created is the time at which it was enqueued; Enqueue sets it.
	Created time.Time `json:"created"`
}

// Subject returns "<installation>.<repository>.<what>". Of the jobs with the same subject one is
// pending at a time, and one is worked on. It consists of letters, digits, dots and '-' only.
func (j Job) Subject() string {
	return strconv.FormatInt(j.Installation, 10) + "." + strconv.FormatInt(j.Repository, 10) + "." + j.what()
}

// what returns the last part of the subject. Changes to the list of an installation's
// repositories have a subject for additions and one for removals; merge joins their
// repositories when one supersedes another.
func (j Job) what() string {
	switch j.Kind {
	case KindPull:
		return "pull-" + strconv.Itoa(j.Pull)
	case KindGroup:
		return "group-" + j.Head
	case KindPush:
		return "push"
	case KindCommand:
		return "command-" + strconv.FormatInt(j.Comment, 10)
	case KindResolve:
		return "resolve-" + j.Head
	}
	switch {
	case len(j.Repositories) == 0:
		return "installation"
	case j.Kind == KindForget:
		return "installation-removed"
	}
	return "installation-added"
}

// check rejects jobs with missing or invalid fields.
func (j Job) check() error {
	switch {
	case !slices.Contains([]Kind{KindPull, KindGroup, KindPush, KindCommand, KindResolve, KindInstallation, KindForget}, j.Kind):
		return fmt.Errorf("no such kind of job: %q", j.Kind)
	case j.Installation <= 0 || j.Repository < 0:
		return fmt.Errorf("job %s of installation %d, repository %d: numbers must be positive", j.Kind, j.Installation, j.Repository)
	case j.Repository == 0 && j.Kind != KindInstallation && j.Kind != KindForget:
		return fmt.Errorf("job %s without a repository", j.Kind)
	case j.Kind == KindPull && j.Pull <= 0, j.Kind == KindCommand && j.Comment <= 0:
		return fmt.Errorf("job %s without a number", j.Kind)
	case (j.Kind == KindGroup || j.Kind == KindResolve) && !hexadecimal(j.Head):
		return fmt.Errorf("job %s without an object name", j.Kind)
	}
	return nil
}

// hexadecimal reports whether name is an object name of git: 40 or 64 hexadecimal digits.
func hexadecimal(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}

// merge returns j with what it keeps of old, the job that it replaces.
func (j Job) merge(old Job) Job {
	j.Fresh = j.Fresh || old.Fresh
	if j.Kind == KindPull && j.Command == "" && old.Command != "" {
		j.Command, j.Sender = old.Command, old.Sender
	}
	if j.Kind == KindPull && j.Approved == "" {
		j.Approved = old.Approved
	}
	if len(j.Repositories) > 0 {
		all := slices.Concat(old.Repositories, j.Repositories)
		slices.Sort(all)
		j.Repositories = slices.Compact(all)
	}
	return j
}
