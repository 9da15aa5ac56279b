package githubtest

import (
	"net/http"
	"strconv"
	"strings"
)

// find returns the commit of a name in a request: a branch, a ref, an object name, or
// OWNER:BRANCH of a fork.
func (s *Server) find(r *repository, name string) string {
	if owner, branch, foreign := strings.Cut(name, ":"); foreign {
		if fork := s.repository(owner, r.Name); fork != nil {
			if sha := fork.tip(branch); sha != "" {
				_, _ = r.git("fetch", "-q", fork.dir, sha) // on an error it is not found below
				name = sha
			}
		}
	}
	tries := []string{"refs/heads/" + name, "refs/" + name, name}
	if isObjectName(name) {
		tries = tries[2:]
	}
	return r.commitOf(tries...)
}

func (s *Server) getCommit(q *query) answer {
	sha := s.find(q.repo, q.params["ref"])
	if sha == "" {
		return message(http.StatusUnprocessableEntity, "No commit found for SHA: "+q.params["ref"])
	}
	return s.commitAnswer(q.repo, sha)
}

func (s *Server) commitAnswer(r *repository, sha string) answer {
	body, err := s.commitBody(r, sha)
	if err != nil {
		return message(http.StatusInternalServerError, err.Error())
	}
	return ok(body)
}

func (s *Server) getBranch(q *query) answer {
	sha := q.repo.tip(q.params["branch"])
	if sha == "" {
		return message(http.StatusNotFound, "Branch not found")
	}
	a := s.commitAnswer(q.repo, sha)
	if a.status == http.StatusOK {
		a.body = map[string]any{"name": q.params["branch"], "commit": a.body, "protected": false}
	}
	return a
}

func (s *Server) getRef(q *query) answer {
	sha, err := q.repo.at("refs/" + q.params["ref"])
	if err != nil {
		return notFound()
	}
	return ok(map[string]any{
		"ref": "refs/" + q.params["ref"], "node_id": "REF_1", "url": s.URL + "ref",
		"object": map[string]any{"type": "commit", "sha": sha, "url": s.URL + "commits/" + sha},
	})
}

// compare handles BASE...HEAD.
func (s *Server) compare(q *query) answer {
	baseName, headName, two := strings.Cut(q.params["basehead"], "...")
	base, head := s.find(q.repo, baseName), s.find(q.repo, headName)
	if !two || base == "" || head == "" {
		return notFound()
	}
	common, err := q.repo.readObjects("merge-base", base, head)
	if err != nil {
		return message(http.StatusNotFound, "No common ancestor between "+baseName+" and "+headName+".")
	}
	ahead, behind := q.repo.count(common, head), q.repo.count(common, base)
	status := map[[2]bool]string{{true, true}: "diverged", {true, false}: "ahead", {false, true}: "behind", {false, false}: "identical"}
	baseCommit, err := s.commitBody(q.repo, base)
	if err != nil {
		return message(http.StatusInternalServerError, err.Error())
	}
	commonCommit, err := s.commitBody(q.repo, common)
	if err != nil {
		return message(http.StatusInternalServerError, err.Error())
	}
	files := s.filesOf(q.repo, common, head, maxCompared)
	return ok(map[string]any{
		"base_commit": baseCommit, "merge_base_commit": commonCommit, "commits": []any{}, "total_commits": ahead,
		"status": status[[2]bool{ahead > 0, behind > 0}], "ahead_by": ahead, "behind_by": behind, "files": files,
	})
}

// maxCompared is how many changed files GitHub lists in a comparison: "up to 300 changed files
// for the entire comparison", according to the API's description.
const maxCompared = 300

// count returns how many commits are in to and not in from.
func (r *repository) count(from, to string) int {
	out, err := r.readObjects("rev-list", "--count", from+".."+to)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(out) // git prints a number
	return n
}

// filesOf returns the files that differ between two commits, at most the first most.
func (s *Server) filesOf(r *repository, from, to string, most int) []any {
	out, err := r.readObjects("diff", "-z", "--name-status", "--no-renames", from, to)
	list := []any{}
	if err != nil {
		return list
	}
	words := map[string]string{"A": "added", "D": "removed"}
	part := strings.Split(out, "\x00")
	for i := 0; i+1 < len(part) && len(list) < most; i += 2 {
		list = append(list, s.fileBody(File{Path: part[i+1], Status: words[part[i]]}))
	}
	return list
}
