package action

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// maxEvent is the largest event file, in bytes. GitHub sends at most 25 MB.
const maxEvent = 32 << 20

// runner has the environment variables that a runner of GitHub Actions sets for a step. They
// are documented at
// https://docs.github.com/actions/reference/workflows-and-actions/variables.
type runner struct {
	event           string // GITHUB_EVENT_NAME
	payload         payload
	sha, ref        string // GITHUB_SHA and GITHUB_REF, which the workflow runs for
	owner, repo     string // of GITHUB_REPOSITORY
	workspace       string
	api, server     string // URLs without a slash at the end
	runID           string
	summary, output string // files, "" when there is none
	temp            string
	token           string
}

// payload has the fields of an event that are used.
type payload struct {
	Before, After   string
	Deleted, Forced bool
	PullRequest     *struct {
		Number     int
		Head, Base struct {
			SHA, Ref string
			Repo     *struct {
				FullName string `json:"full_name"`
			}
		}
	} `json:"pull_request"`
	MergeGroup *struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`
	WorkflowRun *struct {
		Event   string
		HeadSHA string `json:"head_sha"`
	} `json:"workflow_run"`
	Repository struct {
		DefaultBranch string `json:"default_branch"`
	}
}

// repository matches the name of a repository on GitHub. The name becomes part of URLs.
var repository = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_-]*)/([A-Za-z0-9._-]+)$`)

// readRunner reads the environment and the event.
func readRunner(getenv func(string) string) (*runner, error) {
	r := &runner{
		event: getenv("GITHUB_EVENT_NAME"), sha: getenv("GITHUB_SHA"), ref: getenv("GITHUB_REF"),
		workspace: getenv("GITHUB_WORKSPACE"), runID: getenv("GITHUB_RUN_ID"),
		summary: getenv("GITHUB_STEP_SUMMARY"), output: getenv("GITHUB_OUTPUT"), temp: getenv("RUNNER_TEMP"),
		api:    strings.TrimSuffix(cmp.Or(getenv("GITHUB_API_URL"), "https://api.github.com"), "/"),
		server: strings.TrimSuffix(cmp.Or(getenv("GITHUB_SERVER_URL"), "https://github.com"), "/"),
		token:  cmp.Or(inputText("github-token", getenv), getenv("GITHUB_TOKEN")),
	}
	for _, name := range []string{"GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "GITHUB_SHA"} {
		if getenv(name) == "" {
			return nil, cli.Usagef("%s is not set: preadmit action runs in a workflow of GitHub Actions; elsewhere use `preadmit scan --base REV`", name)
		}
	}
	name := repository.FindStringSubmatch(getenv("GITHUB_REPOSITORY"))
	if name == nil {
		return nil, cli.Usagef("GITHUB_REPOSITORY: %q is no OWNER/REPOSITORY", getenv("GITHUB_REPOSITORY"))
	}
	r.owner, r.repo = name[1], name[2]
	for variable, value := range map[string]string{"GITHUB_API_URL": r.api, "GITHUB_SERVER_URL": r.server} {
		if u, err := url.Parse(value); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			return nil, cli.Usagef("%s: want a URL of https or http", variable)
		}
	}
	return r, r.readEvent(getenv("GITHUB_EVENT_PATH"))
}

func (r *runner) readEvent(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return cli.Usagef("GITHUB_EVENT_PATH: %w", err)
	}
	if info.Size() > maxEvent {
		return cli.Usagef("GITHUB_EVENT_PATH: %s has more than %d bytes", path, maxEvent)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return cli.Usagef("GITHUB_EVENT_PATH: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return cli.Usagef("GITHUB_EVENT_PATH: %s is empty", path)
	}
	if err := json.Unmarshal(data, &r.payload); err != nil {
		return cli.Usagef("GITHUB_EVENT_PATH: %s: %w", path, err)
	}
	return nil
}

// repositoryURL returns the URL to fetch commits from.
func (r *runner) repositoryURL() string { return r.server + "/" + r.owner + "/" + r.repo }

// runURL returns the URL of the page of the workflow run, "" if its ID is not known.
func (r *runner) runURL() string {
	if r.runID == "" {
		return ""
	}
	return fmt.Sprintf("%s/actions/runs/%s", r.repositoryURL(), url.PathEscape(r.runID))
}
