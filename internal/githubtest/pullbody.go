package githubtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

// pullBody returns the JSON body of a pull request.
func (s *Server) pullBody(p *pull) map[string]any {
	repo, from := p.repo, p.from
	if repo == nil {
		repo, from = s.first, s.first
	}
	api := fmt.Sprintf("%srepos/%s/pulls/%d", s.URL, repo.full(), p.number)
	html := fmt.Sprintf("%s/%s/pull/%d", s.WebURL, repo.full(), p.number)
	var closed, mergeSHA any
	if p.state == "closed" {
		closed = openapi.Moment
	}
	if p.mergeSHA != "" {
		mergeSHA = p.mergeSHA
	}
	return map[string]any{
		"id": 100000 + repo.id*1000 + int64(p.number), "node_id": "PR_1", "number": p.number, "state": p.state, "title": p.title,
		"url": api, "html_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": strings.Replace(api, "/pulls/", "/issues/", 1),
		"user": s.userBody(p.author), "body": nil, "draft": p.draft, "locked": false, "merged": p.merged, "mergeable": p.mergeable,
		"mergeable_state": p.mergeableState(), "merge_commit_sha": mergeSHA, "created_at": openapi.Moment, "updated_at": openapi.Moment, "closed_at": closed,
		"author_association": "CONTRIBUTOR", "labels": []any{}, "maintainer_can_modify": false,
		"head": s.endBody(from, p.head, p.headSHA), "base": s.endBody(repo, p.base, p.baseSHA),
	}
}

func (p *pull) mergeableState() string {
	switch {
	case p.mergeable == nil:
		return "unknown"
	case *p.mergeable:
		return "clean"
	}
	return "dirty"
}

// endBody returns the head or base of a pull request; the repository of a fork may be deleted.
func (s *Server) endBody(r *repository, branch, sha string) map[string]any {
	body := map[string]any{"label": r.Owner + ":" + branch, "ref": branch, "sha": sha, "user": s.userBody(r.Owner), "repo": nil}
	if !r.deleted {
		body["repo"] = s.spec.CompleteAs("repository", s.repoBody(r, "read"))
	}
	return body
}

// pull returns the pull request of a request's path.
func (q *query) pull(name string) *pull { return q.repo.pull(int(q.number(name))) }

// getPull returns one pull request. The request makes GitHub compute whether it is
// mergeable.
func (s *Server) getPull(q *query) answer {
	p := q.pull("pull_number")
	if p == nil {
		return notFound()
	}
	body := s.pullBody(p)
	if p.repo != nil && p.mergeable == nil && p.state == "open" {
		if p.pending--; p.pending <= 0 {
			if err := p.tryMerge(); err != nil {
				return message(http.StatusInternalServerError, err.Error())
			}
		}
	}
	return ok(body)
}

func (s *Server) listPulls(q *query) answer {
	query := q.r.URL.Query()
	list := []any{}
	for _, p := range q.repo.pulls {
		state := query.Get("state")
		switch {
		case state == "closed" && p.state != "closed", state != "all" && state != "closed" && p.state != "open",
			query.Get("base") != "" && query.Get("base") != p.base,
			query.Get("head") != "" && p.from != nil && query.Get("head") != p.from.Owner+":"+p.head:
			continue
		}
		list = append(list, s.pullBody(p))
	}
	if query.Get("direction") != "asc" {
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	return listed(s, q.r, "", list)
}

// pullsOfCommit returns the open pull requests that contain a commit.
func (s *Server) pullsOfCommit(q *query) answer {
	sha := s.find(q.repo, q.params["commit_sha"])
	if sha == "" {
		return message(http.StatusUnprocessableEntity, "No commit found for SHA: "+q.params["commit_sha"])
	}
	in := sync.OnceValue(func() map[string]bool { return q.repo.refsWith(sha) })
	list := []any{}
	for _, p := range q.repo.pulls {
		if p.repo != nil && p.state == "open" && (p.headSHA == sha || in()[p.headRef()] && !in()["refs/heads/"+p.base]) {
			list = append(list, s.pullBody(p))
		}
	}
	return listed(s, q.r, "", list)
}

// SetFiles sets the changed files of the pull requests of the first repository, which has no
// git.
func (s *Server) SetFiles(files ...File) { s.locked(func() { s.files = files }) }

// File is a changed file of a pull request. Status is "modified" when empty.
type File struct{ Path, Status string }

func (s *Server) listFiles(q *query) answer {
	p := q.pull("pull_number")
	if p == nil {
		return notFound()
	}
	list := []any{}
	if p.repo != nil {
		common, err := p.repo.readObjects("merge-base", p.repo.tip(p.base), p.headSHA)
		if err != nil {
			return message(http.StatusInternalServerError, err.Error())
		}
		list = s.filesOf(p.repo, common, p.headSHA, maxListed)
	} else {
		for _, f := range s.files {
			list = append(list, s.fileBody(f))
		}
	}
	return listed(s, q.r, "", list[:min(len(list), maxListed)])
}

// maxListed is how many files of a pull request GitHub lists: "up to 3000 files", according to the
// API's description.
const maxListed = 3000

func (s *Server) fileBody(f File) map[string]any {
	status := f.Status
	if status == "" {
		status = "modified"
	}
	return map[string]any{
		"sha": fmt.Sprintf("%040d", 1), "filename": f.Path, "status": status, "additions": 1, "deletions": 0, "changes": 1,
		"blob_url": s.URL + "b", "raw_url": s.URL + "r", "contents_url": s.URL + "c", "patch": "@@ -1 +1,2 @@",
	}
}
