package intake

import "github.com/preadmit/preadmit/webhooks/queue"

func readInstallation(body []byte) (requested, error) {
	var e installationEvent
	return read(body, &e, &e.common, e.request)
}

// request returns the same job for a suspended installation as for a deleted one. The worker checks
// with GitHub which it is, and keeps the data of a suspended one.
func (e *installationEvent) request() requested {
	switch e.Action {
	case "created", "unsuspend", "new_permissions_accepted":
		return e.about(queue.KindInstallation, nil)
	case "deleted", "suspend":
		return e.about(queue.KindForget, nil)
	}
	return noJob("this action of installation needs no job")
}

func (e *installationEvent) about(kind queue.Kind, repositories []int64) requested {
	return withJob(queue.Job{Kind: kind, Repositories: repositories, Reason: "installation." + e.Action})
}

func readInstallationRepositories(body []byte) (requested, error) {
	var e installationEvent
	return read(body, &e, &e.common, e.repositories)
}

// repositories is request for the event installation_repositories.
func (e *installationEvent) repositories() requested {
	job := queue.Job{Reason: "installation_repositories." + e.Action}
	var listed []identity
	switch e.Action {
	case "added":
		job.Kind, listed = queue.KindInstallation, e.Added
	case "removed":
		job.Kind, listed = queue.KindForget, e.Removed
	default:
		return noJob("this action of installation_repositories needs no job")
	}
	for _, repository := range listed {
		if repository.ID <= 0 {
			return noJob("the payload's repositories have no ids")
		}
		job.Repositories = append(job.Repositories, repository.ID)
	}
	if len(job.Repositories) == 0 { // an empty list would mean all of them
		return noJob("the payload lists no repositories")
	}
	return withJob(job)
}
