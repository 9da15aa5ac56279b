package githubtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// runBody returns the JSON body of a check run.
func (s *Server) runBody(r *repository, run *CheckRun) map[string]any {
	self := fmt.Sprintf("%srepos/%s/check-runs/%d", s.URL, run.Repo, run.ID)
	var completed any
	if run.Status == "completed" {
		completed = openapi.Moment
	}
	return map[string]any{
		"id": run.ID, "node_id": "CR_1", "head_sha": run.HeadSHA, "name": run.Name, "url": self,
		"html_url":    fmt.Sprintf("https://github.com/%s/runs/%d", run.Repo, run.ID),
		"details_url": nullable(run.DetailsURL), "external_id": nullable(run.ExternalID),
		"status": run.Status, "conclusion": nullable(run.Conclusion),
		"started_at": openapi.Moment, "completed_at": completed,
		"check_suite": map[string]any{"id": s.suiteID(run.App, run.HeadSHA)}, "pull_requests": s.pullsAt(r, run.HeadSHA),
		"app": s.appBody(run.App),
		"output": map[string]any{
			"title": nullable(run.Title), "summary": nullable(run.Summary), "text": nullable(run.Text),
			"annotations_count": len(run.Annotations), "annotations_url": self + "/annotations",
		},
	}
}

// suiteID returns the ID of a check suite: there is one for each app and commit.
func (s *Server) suiteID(app, sha string) int64 {
	key := "suite " + app + " " + sha
	if s.accounts[key] == 0 {
		s.accounts[key] = s.name()
	}
	return s.accounts[key]
}

// pullsAt returns short bodies of the pull requests with a head. Like GitHub it omits those of
// forks.
func (s *Server) pullsAt(r *repository, sha string) []any {
	list := []any{}
	for _, p := range r.pulls {
		if p.repo == nil || p.from != p.repo || p.headSHA != sha || p.state != "open" {
			continue
		}
		end := func(branch, sha string) map[string]any {
			return map[string]any{"ref": branch, "sha": sha, "repo": map[string]any{"id": r.id, "url": s.URL + "repos/" + r.full(), "name": r.Name}}
		}
		list = append(list, map[string]any{
			"id": p.number, "number": p.number, "url": fmt.Sprintf("%srepos/%s/pulls/%d", s.URL, r.full(), p.number),
			"head": end(p.head, p.headSHA), "base": end(p.base, p.baseSHA),
		})
	}
	return list
}

// suiteBody returns the JSON body of a check suite.
func (s *Server) suiteBody(r *repository, app, sha string) map[string]any {
	status, count := "queued", 0
	for _, run := range s.runs {
		if run.App == app && run.HeadSHA == sha && run.Repo == r.full() {
			status, count = run.Status, count+1
		}
	}
	var branch any
	if pulls := s.pullsAt(r, sha); len(pulls) > 0 {
		branch = pulls[0].(map[string]any)["head"].(map[string]any)["ref"]
	}
	return map[string]any{
		"id": s.suiteID(app, sha), "node_id": "CS_1", "head_branch": branch, "head_sha": sha, "status": status, "conclusion": nil,
		"url": s.URL + "suite", "pull_requests": s.pullsAt(r, sha), "app": s.appBody(app), "latest_check_runs_count": count,
		"created_at": openapi.Moment, "updated_at": openapi.Moment,
	}
}

func (s *Server) listSuites(q *query) answer {
	sha := s.find(q.repo, q.params["ref"])
	list := []any{}
	seen := map[string]bool{}
	for _, run := range s.runs {
		if run.Repo == q.repo.full() && run.HeadSHA == sha && !seen[run.App] {
			seen[run.App] = true
			body := s.suiteBody(q.repo, run.App, sha)
			if commit, err := s.commitBody(q.repo, sha); err == nil {
				body["head_commit"] = map[string]any{"id": sha, "tree_id": commit["commit"].(map[string]any)["tree"].(map[string]any)["sha"]}
			}
			list = append(list, body)
		}
	}
	return listed(s, q.r, "check_suites", list)
}

// rerequest handles the API's "Re-run".
func (s *Server) rerequest(q *query) answer {
	run, a := s.run(q)
	if run == nil {
		return a
	}
	s.sendRun(q.repo, run, "rerequested", q.who.login, nil)
	return answer{status: http.StatusCreated, body: map[string]any{}}
}

// RerequestRun is "Re-run" of a check run; only its App receives the webhook.
func (r *Repository) RerequestRun(id int64, sender string) error {
	return r.pressButton(id, "rerequested", sender, nil, func(*CheckRun) bool { return true })
}

// RequestAction is a click on a button of a check run, which must have the button.
func (r *Repository) RequestAction(id int64, identifier, sender string) error {
	more := map[string]any{"requested_action": map[string]any{"identifier": identifier}}
	return r.pressButton(id, "requested_action", sender, more, func(run *CheckRun) bool {
		return slices.ContainsFunc(run.Actions, func(a Action) bool { return a.Identifier == identifier })
	})
}

// pressButton sends the webhook of a button, if the check run has it.
func (r *Repository) pressButton(id int64, action, sender string, more map[string]any, has func(*CheckRun) bool) error {
	return r.server.act(func() error {
		for _, run := range r.server.runs {
			if run.ID == id && run.Repo == r.repo.full() && has(run) {
				r.server.sendRun(r.repo, run, action, sender, more)
				return nil
			}
		}
		return errors.New("press a button of a check run: there is none")
	})
}

// RerequestSuite is "Re-run all checks" of a commit, for one App.
func (r *Repository) RerequestSuite(app *App, sha, sender string) error {
	return r.server.act(func() error {
		r.server.sendSuite(r.repo, app, sha, "rerequested", sender)
		return nil
	})
}
