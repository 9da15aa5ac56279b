package intake

import (
	"encoding/json"
	"errors"
	"strings"
)

// The parts of payloads that are used, as described in GitHub's "Webhook events and payloads".
// Everything else in a payload is ignored.

type common struct {
	Action       string       `json:"action"`
	Installation installation `json:"installation"`
	Repository   repository   `json:"repository"`
	Sender       user         `json:"sender"`
}

type installation struct {
	ID      int64 `json:"id"`
	Account user  `json:"account"`
}

type repository struct {
	ID            int64  `json:"id"`
	Name          string `json:"name"`
	Owner         user   `json:"owner"`
	DefaultBranch string `json:"default_branch"`
}

// user is a user, an organization or a bot. GitHub omits fields in some payloads: the owner of a
// push has no type in some.
type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

type commit struct {
	SHA string `json:"sha"`
	// Repo is null if the repository was deleted.
	Repo identity `json:"repo"`
}

// identity is the ID of an app, or of a repository that was added or removed.
type identity struct {
	ID int64 `json:"id"`
}

type pullRequest struct {
	Number int    `json:"number"`
	Draft  bool   `json:"draft"`
	Head   commit `json:"head"`
	Base   commit `json:"base"`
}

type pullRequestEvent struct {
	common
	PullRequest pullRequest `json:"pull_request"`
	Changes     struct {
		Base *struct{} `json:"base"`
	} `json:"changes"`
}

// check is a check run or a check suite.
type check struct {
	HeadSHA string   `json:"head_sha"`
	App     identity `json:"app"`
	// PullRequests is empty for heads in forks.
	PullRequests []pullRequest `json:"pull_requests"`
}

type checkRunEvent struct {
	common
	CheckRun        check `json:"check_run"`
	RequestedAction struct {
		Identifier string `json:"identifier"`
	} `json:"requested_action"`
}

type checkSuiteEvent struct {
	common
	CheckSuite check `json:"check_suite"`
}

type mergeGroupEvent struct {
	common
	MergeGroup struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
		BaseSHA string `json:"base_sha"`
	} `json:"merge_group"`
}

type pushEvent struct {
	common
	Ref     string `json:"ref"`
	After   string `json:"after"`
	Deleted bool   `json:"deleted"`
}

type issueCommentEvent struct {
	common
	Issue struct {
		Number      int       `json:"number"`
		PullRequest *struct{} `json:"pull_request"`
	} `json:"issue"`
	Comment struct {
		ID   int64  `json:"id"`
		Body string `json:"body"`
		User user   `json:"user"`
		// App is the App that created the comment, for a user or as itself.
		App *identity `json:"performed_via_github_app"`
	} `json:"comment"`
}

type installationEvent struct {
	common
	Added   []identity `json:"repositories_added"`
	Removed []identity `json:"repositories_removed"`
}

// decode decodes a payload. It returns an error if the payload is no JSON, and a reason to ignore
// it if its shape is unexpected. The reason names the field and quotes nothing.
func decode(body []byte, into any) (reason string, err error) {
	err = json.Unmarshal(body, into)
	var shape *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &shape):
		return "", err
	case shape.Field == "":
		return "the payload is no object", nil
	}
	field := strings.TrimPrefix(shape.Field, "common.") // common is our own grouping of fields
	return "the payload's " + field + " is not what it should be", nil
}
