package githubtest

import (
	"fmt"
	"net/http"
	"strings"
)

// moment is the time of everything: nothing depends on it.
const moment = "2026-01-02T03:04:05Z"

// runBody is a check run in GitHub's words.
func (s *Server) runBody(run *CheckRun) map[string]any {
	self := fmt.Sprintf("%srepos/%s/%s/check-runs/%d", s.URL, s.config.Owner, s.config.Repo, run.ID)
	nullable := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	var completed any
	if run.Status == "completed" {
		completed = moment
	}
	return map[string]any{
		"id": run.ID, "node_id": "CR_1", "head_sha": run.HeadSHA, "name": run.Name, "url": self,
		"html_url":    fmt.Sprintf("https://github.com/%s/%s/runs/%d", s.config.Owner, s.config.Repo, run.ID),
		"details_url": nullable(run.DetailsURL), "external_id": nullable(run.ExternalID),
		"status": run.Status, "conclusion": nullable(run.Conclusion),
		"started_at": moment, "completed_at": completed,
		"check_suite": map[string]any{"id": 5}, "pull_requests": []any{},
		"app": s.appBody(run.App),
		"output": map[string]any{
			"title": nullable(run.Title), "summary": nullable(run.Summary), "text": nullable(run.Text),
			"annotations_count": len(run.Annotations), "annotations_url": self + "/annotations",
		},
	}
}

func (s *Server) appBody(slug string) map[string]any {
	return map[string]any{
		"id": 15368 + len(slug), "slug": slug, "node_id": "A_1", "owner": s.userBody("github"), "name": slug,
		"description": "", "external_url": "https://example.com", "html_url": "https://github.com/apps/" + slug,
		"created_at": moment, "updated_at": moment, "events": []any{},
		"permissions": map[string]any{"checks": "write"},
	}
}

// userBody is an account; names that end in [bot] are bots.
func (s *Server) userBody(login string) map[string]any {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	body := map[string]any{
		"login": login, "id": 1 + len(login), "node_id": "U_1", "gravatar_id": "", "type": kind, "site_admin": false,
	}
	for _, name := range []string{
		"avatar_url", "events_url", "followers_url", "following_url", "gists_url", "html_url", "organizations_url",
		"received_events_url", "repos_url", "starred_url", "subscriptions_url", "url",
	} {
		body[name] = "https://api.github.com/users/x"
	}
	return body
}

// user answers GET /user, which apps may not ask.
func (s *Server) user() answer {
	if strings.HasSuffix(s.config.Login, "[bot]") {
		return message(http.StatusForbidden, "Resource not accessible by integration")
	}
	body := s.userBody(s.config.Login)
	for _, name := range []string{"bio", "blog", "company", "email", "hireable", "location", "name"} {
		body[name] = nil
	}
	body["blog"] = ""
	for _, name := range []string{
		"followers", "following", "public_gists", "public_repos", "collaborators", "disk_usage",
		"owned_private_repos", "private_gists", "total_private_repos",
	} {
		body[name] = 0
	}
	body["user_view_type"] = "private"
	body["created_at"], body["updated_at"], body["two_factor_authentication"] = moment, moment, true
	return answer{status: http.StatusOK, body: body}
}

// graphql answers who looks, and nothing else.
func (s *Server) graphql(r *http.Request, body []byte) (answer, string) {
	if r.Method != http.MethodPost || !strings.Contains(string(body), "viewer { login }") {
		return message(http.StatusBadRequest, "A query attribute must be specified and must be a string."), "not the query for the viewer's login"
	}
	login := map[string]any{"login": s.config.Login}
	return answer{status: http.StatusOK, body: map[string]any{"data": map[string]any{"viewer": login}}}, ""
}
