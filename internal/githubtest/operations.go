package githubtest

import (
	"net/http"
	"strconv"
	"strings"
)

// query is a request for an operation.
type query struct {
	r      *http.Request
	body   []byte
	who    *caller
	params map[string]string
	repo   *repository // for paths that have one
}

// number returns a parameter of the path; 0, which no object has, if it is no number.
func (q *query) number(name string) int64 {
	n, _ := strconv.ParseInt(q.params[name], 10, 64)
	return n
}

// operation is one of GitHub's operations: the permission that it requires, and its handler.
type operation struct {
	// needs is a permission like "checks: write", or several of which one is sufficient,
	// separated by "|". "app" means the App's own assertion, "client" its client ID and
	// secret, "user" a user's token, "any" any token, and "nobody" no authentication.
	needs string
	do    func(s *Server, q *query) answer
}

// operations returns all supported operations, by method and path in the description.
func operations() map[string]operation {
	const repo = "/repos/{owner}/{repo}"
	return map[string]operation{
		"GET /app":                                                 {"app", (*Server).getApp},
		"GET /app/hook/deliveries":                                 {"app", (*Server).listDeliveries},
		"GET /app/installations":                                   {"app", (*Server).listInstallations},
		"GET " + repo + "/installation":                            {"app", (*Server).installationOf},
		"GET /app/installations/{installation_id}":                 {"app", (*Server).getInstallation},
		"POST /app/installations/{installation_id}/access_tokens":  {"app", (*Server).createToken},
		"POST /app/hook/deliveries/{delivery_id}/attempts":         {"app", (*Server).redeliver},
		"POST /app-manifests/{code}/conversions":                   {"nobody", (*Server).convertManifest},
		"DELETE /applications/{client_id}/token":                   {"client", (*Server).deleteToken},
		"GET /installation/repositories":                           {"installation", (*Server).listInstalled},
		"GET /user":                                                {"any", (*Server).user},
		"GET /user/installations":                                  {"user", (*Server).userInstallations},
		"GET /user/installations/{installation_id}/repositories":   {"user", (*Server).userRepositories},
		"GET " + repo:                                              {"metadata: read", (*Server).getRepository},
		"GET " + repo + "/branches/{branch}":                       {"contents: read", (*Server).getBranch},
		"GET " + repo + "/git/ref/{ref}":                           {"contents: read", (*Server).getRef},
		"GET " + repo + "/commits/{ref}":                           {"contents: read", (*Server).getCommit},
		"GET " + repo + "/compare/{basehead}":                      {"contents: read", (*Server).compare},
		"GET " + repo + "/commits/{commit_sha}/pulls":              {"pull_requests: read|contents: read", (*Server).pullsOfCommit},
		"GET " + repo + "/pulls":                                   {"pull_requests: read", (*Server).listPulls},
		"GET " + repo + "/pulls/{pull_number}":                     {"pull_requests: read", (*Server).getPull},
		"GET " + repo + "/pulls/{pull_number}/files":               {"pull_requests: read", (*Server).listFiles},
		"GET " + repo + "/collaborators/{username}/permission":     {"metadata: read", (*Server).permissionOf},
		"POST " + repo + "/check-runs":                             {"checks: write", (*Server).createRun},
		"GET " + repo + "/check-runs/{check_run_id}":               {"checks: read", (*Server).getRun},
		"PATCH " + repo + "/check-runs/{check_run_id}":             {"checks: write", (*Server).updateRun},
		"GET " + repo + "/check-runs/{check_run_id}/annotations":   {"checks: read", (*Server).annotations},
		"POST " + repo + "/check-runs/{check_run_id}/rerequest":    {"checks: write", (*Server).rerequest},
		"GET " + repo + "/commits/{ref}/check-runs":                {"checks: read", (*Server).listRuns},
		"GET " + repo + "/commits/{ref}/check-suites":              {"checks: read", (*Server).listSuites},
		"GET " + repo + "/issues/{issue_number}/comments":          {"issues: read|pull_requests: read", (*Server).listComments},
		"POST " + repo + "/issues/{issue_number}/comments":         {"issues: write|pull_requests: write", (*Server).createComment},
		"GET " + repo + "/issues/comments/{comment_id}":            {"issues: read|pull_requests: read", (*Server).getComment},
		"PATCH " + repo + "/issues/comments/{comment_id}":          {"issues: write|pull_requests: write", (*Server).editComment},
		"DELETE " + repo + "/issues/comments/{comment_id}":         {"issues: write|pull_requests: write", (*Server).deleteComment},
		"GET " + repo + "/issues/comments/{comment_id}/reactions":  {"issues: read|pull_requests: read", (*Server).listReactions},
		"POST " + repo + "/issues/comments/{comment_id}/reactions": {"issues: write|pull_requests: write", (*Server).react},
		"POST " + repo + "/code-scanning/sarifs":                   {"security_events: write", (*Server).uploadSARIF},
		"GET " + repo + "/code-scanning/sarifs/{sarif_id}":         {"security_events: read", (*Server).getSARIF},
	}
}

// route calls the handler of an operation if the caller is permitted.
func (s *Server) route(name string, q *query) answer {
	op := s.table[name]
	if owner, ok := q.params["owner"]; ok {
		q.repo = s.repository(owner, q.params["repo"])
		if q.repo == nil || op.needs != "app" && !s.sees(q.who, q.repo) {
			return notFound()
		}
	}
	if a, refused := s.refuse(q, op.needs); refused {
		return a
	}
	return op.do(s, q)
}

// refuse returns GitHub's error for a caller without permission.
func (s *Server) refuse(q *query, needs string) (answer, bool) {
	who := q.who
	lacks := message(http.StatusForbidden, "Resource not accessible by integration")
	switch {
	case needs == "nobody":
		return answer{}, false
	case who.kind == nobody && (q.repo == nil || q.r.Method != http.MethodGet):
		return message(http.StatusUnauthorized, "Requires authentication"), true
	case needs == "app" && who.kind != asApp:
		return message(http.StatusUnauthorized, "A JSON web token could not be decoded"), true
	case (needs == "client") != (who.kind == asClient):
		return notFound(), true
	case needs != "app" && who.kind == asApp:
		return lacks, true
	case needs == "installation" && who.kind != asInstallation, needs == "user" && who.kind != asUser:
		return lacks, true
	case !strings.Contains(needs, ":"), who.kind == nobody:
		return answer{}, false
	case who.kind == asInstallation && !who.granted(needs):
		return lacks, true
	case who.kind == asUser && strings.HasSuffix(needs, "write") && !atLeast(q.repo.roleOf(who.login), "write"):
		return message(http.StatusForbidden, "Must have write access to Repository."), true
	case who.kind == asWorkflow && q.r.Method != http.MethodGet && s.config.ReadOnly:
		return lacks, true
	}
	return answer{}, false
}
