package intake

import "github.com/preadmit/preadmit/webhooks/queue"

func readInstallation(body []byte) (demand, error) {
	var e installationEvent
	return read(body, &e, &e.common, e.demand)
}

// demand: a suspended installation is looked up like a deleted one, and GitHub says which
// it is: what is kept of one that is suspended, which may end, is kept.
func (e *installationEvent) demand() demand {
	switch e.Action {
	case "created", "unsuspend", "new_permissions_accepted":
		return e.about(queue.KindInstallation, nil)
	case "deleted", "suspend":
		return e.about(queue.KindForget, nil)
	}
	return nothing("this action of installation asks for nothing")
}

func (e *installationEvent) about(kind queue.Kind, repositories []int64) demand {
	return want(queue.Job{Kind: kind, Repositories: repositories, Reason: "installation." + e.Action})
}

func readInstallationRepositories(body []byte) (demand, error) {
	var e installationEvent
	return read(body, &e, &e.common, e.repositories)
}

// repositories is the demand of installation_repositories.
func (e *installationEvent) repositories() demand {
	job := queue.Job{Reason: "installation_repositories." + e.Action}
	var listed []identity
	switch e.Action {
	case "added":
		job.Kind, listed = queue.KindInstallation, e.Added
	case "removed":
		job.Kind, listed = queue.KindForget, e.Removed
	default:
		return nothing("this action of installation_repositories asks for nothing")
	}
	for _, repository := range listed {
		if repository.ID <= 0 {
			return nothing("the payload's repositories have no ids")
		}
		job.Repositories = append(job.Repositories, repository.ID)
	}
	if len(job.Repositories) == 0 { // which would mean all of them
		return nothing("the payload lists no repositories")
	}
	return want(job)
}
