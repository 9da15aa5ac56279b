package intake

import (
	"github.com/preadmit/preadmit/webhooks/queue"
)

// demand is what a delivery asks for: a job, or the reason why there is none.
type demand struct {
	job *queue.Job
	why string
}

func nothing(why string) demand { return demand{why: why} }

func want(job queue.Job) demand { return demand{job: &job} }

// reader turns one event's payload into a demand. Its error says that the payload is no
// JSON.
type reader func(body []byte) (demand, error)

// readerOf returns the reader of an event, nil for an event that never asks for anything.
// appID is the App's own.
func readerOf(event string, appID int64) reader {
	switch event {
	case "pull_request":
		return readPullRequest
	case "check_run":
		return func(body []byte) (demand, error) { return readCheckRun(body, appID) }
	case "check_suite":
		return func(body []byte) (demand, error) { return readCheckSuite(body, appID) }
	case "merge_group":
		return readMergeGroup
	case "push":
		return readPush
	case "issue_comment":
		return readIssueComment
	case "installation":
		return readInstallation
	case "installation_repositories":
		return readInstallationRepositories
	case "ping":
		return func([]byte) (demand, error) { return nothing("pong"), nil }
	}
	return nil
}

// read decodes a payload and has ask say what it demands. payload holds c, which says
// whose the job is.
func read(body []byte, payload any, c *common, ask func() demand) (demand, error) {
	reason, err := decode(body, payload)
	if err != nil || reason != "" {
		return demand{why: reason}, err
	}
	d := ask()
	if d.job == nil {
		return d, nil
	}
	if why := c.describe(d.job); why != "" {
		return nothing(why), nil
	}
	return d, nil
}

// describe puts into a job whose it is; what it cannot be is returned.
func (c *common) describe(job *queue.Job) string {
	if c.Installation.ID <= 0 {
		return "the payload names no installation of the App: only webhooks of Apps have one"
	}
	job.Installation = c.Installation.ID
	if ofInstallation(job.Kind) {
		return ""
	}
	switch {
	case c.Repository.ID <= 0:
		return "the payload's repository.id is no id"
	case !isName(c.Repository.Name) || !isName(c.Repository.Owner.Login):
		return "the payload's repository has no name that GitHub gives"
	}
	job.Repository, job.Repo, job.Owner = c.Repository.ID, c.Repository.Name, c.Repository.Owner.Login
	return ""
}

// ofInstallation reports whether a kind of job is about an installation, not a repository.
func ofInstallation(kind queue.Kind) bool {
	return kind == queue.KindInstallation || kind == queue.KindForget
}
