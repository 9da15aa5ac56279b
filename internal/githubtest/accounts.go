package githubtest

import (
	"net/http"
	"strings"
)

// userBody returns the body of an account, which is created when it is first named. Names that
// end in [bot] are bots.
func (s *Server) userBody(login string) map[string]any {
	if s.accounts[login] == 0 {
		s.accounts[login] = s.name()
	}
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	body := map[string]any{
		"login": login, "id": s.accounts[login], "node_id": "U_1", "gravatar_id": "", "type": kind, "site_admin": false,
	}
	for _, name := range []string{
		"avatar_url", "events_url", "followers_url", "following_url", "gists_url", "organizations_url",
		"received_events_url", "repos_url", "starred_url", "subscriptions_url", "url",
	} {
		body[name] = s.URL + "users/" + login
	}
	body["html_url"] = s.WebURL + "/" + login
	return body
}

// user handles GET /user, which is forbidden for apps.
func (s *Server) user(q *query) answer {
	if q.who.bot() {
		return message(http.StatusForbidden, "Resource not accessible by integration")
	}
	body := s.userBody(q.who.login)
	body["user_view_type"], body["two_factor_authentication"] = "private", true
	return ok(body)
}

// graphql handles only the query for the viewer.
func (s *Server) graphql(r *http.Request, body []byte, who *caller) (answer, string) {
	if r.Method != http.MethodPost || !strings.Contains(string(body), "viewer { login }") {
		return message(http.StatusBadRequest, "A query attribute must be specified and must be a string."), "not the query for the viewer's login"
	}
	login := map[string]any{"login": who.login}
	return ok(map[string]any{"data": map[string]any{"viewer": login}}), ""
}
