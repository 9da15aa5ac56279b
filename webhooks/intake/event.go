package intake

import (
	"github.com/preadmit/preadmit/webhooks/queue"
)

// requested is what a delivery requests: a job, or why there is none.
type requested struct {
	job *queue.Job
	why string
}

func noJob(why string) requested { return requested{why: why} }

func withJob(job queue.Job) requested { return requested{job: &job} }

// reader decodes one event's payload and returns what it requests. It returns an error if the payload
// is no JSON.
type reader func(body []byte) (requested, error)

// readerOf returns the reader of an event, nil for an event that never leads to a job. appID is
// the ID of our App.
func readerOf(event string, appID int64) reader {
	switch event {
	case "pull_request":
		return readPullRequest
	case "check_run":
		return func(body []byte) (requested, error) { return readCheckRun(body, appID) }
	case "check_suite":
		return func(body []byte) (requested, error) { return readCheckSuite(body, appID) }
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
		return func([]byte) (requested, error) { return noJob("pong"), nil }
	}
	return nil
}

// read decodes a payload and calls request for its job. c is the part of payload that has the
// job's installation and repository.
func read(body []byte, payload any, c *common, request func() requested) (requested, error) {
	reason, err := decode(body, payload)
	if err != nil || reason != "" {
		return requested{why: reason}, err
	}
	d := request()
	if d.job == nil {
		return d, nil
	}
	if why := c.describe(d.job); why != "" {
		return noJob(why), nil
	}
	return d, nil
}

// describe sets the job's installation and repository, or returns why they are invalid.
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
		return "the payload's repository has no valid name"
	}
	job.Repository, job.Repo, job.Owner = c.Repository.ID, c.Repository.Name, c.Repository.Owner.Login
	return ""
}

// ofInstallation reports whether jobs of a kind concern an installation, not a repository.
func ofInstallation(kind queue.Kind) bool {
	return kind == queue.KindInstallation || kind == queue.KindForget
}
