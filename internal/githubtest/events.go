package githubtest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

// sendEvent sends an event of a repository to the Apps that are installed there, are subscribed to the
// event and satisfy only, if it is not nil.
func (s *Server) sendEvent(r *repository, event, action, sender string, payload map[string]any, only func(*App) bool) {
	payload["repository"], payload["sender"] = s.spec.CompleteAs("repository", s.repoBody(r, "read")), s.userBody(sender)
	for _, in := range s.installed {
		if in.covers(r) && !in.suspended && slices.Contains(in.app.opts.Events, event) && (only == nil || only(in.app)) {
			s.emit(in, event, action, r.id, payload)
		}
	}
}

// emit sends an event of an installation.
func (s *Server) emit(in *installation, event, action string, repository int64, payload map[string]any) {
	if in.app.opts.WebhookURL == "" {
		return
	}
	payload["installation"] = map[string]any{"id": in.id, "node_id": fmt.Sprintf("MDIz%d", in.id)}
	if event == "installation" || event == "installation_repositories" {
		payload["installation"] = s.installationBody(in)
	}
	if action != "" {
		payload["action"] = action
	}
	text, err := json.Marshal(payload)
	if err != nil {
		s.problems = append(s.problems, "the payload of "+event+": "+err.Error())
		return
	}
	in.app.deliver(&Delivery{Event: event, Action: action, Installation: in.id, Repository: repository, Payload: text})
}

// sendPull sends pull_request.
func (s *Server) sendPull(p *pull, action, sender string, more map[string]any) {
	payload := map[string]any{"number": p.number, "pull_request": s.spec.CompleteAs("pull-request", s.pullBody(p))}
	switch action {
	case "synchronize":
		payload["before"], payload["after"] = more["before"], p.headSHA
	case "edited":
		payload["changes"] = more
	}
	s.sendEvent(p.repo, "pull_request", action, sender, payload, nil)
}

func (s *Server) sendSynchronize(p *pull, before string) {
	s.sendPull(p, "synchronize", p.author, map[string]any{"before": before})
}

// sendPush sends push.
func (s *Server) sendPush(r *repository, branch, before, after string) {
	payload := map[string]any{
		"ref": "refs/heads/" + branch, "before": before, "after": after, "created": before == noCommit, "deleted": after == noCommit,
		"forced": false, "base_ref": nil, "compare": s.WebURL + "/" + r.full() + "/compare", "commits": []any{}, "head_commit": nil,
		"pusher": map[string]any{"name": r.Owner, "email": "a@example.com"},
	}
	if before != noCommit && after != noCommit {
		common, err := r.readObjects("merge-base", before, after)
		payload["forced"] = err != nil || common != before
	}
	if after != noCommit {
		head := s.headCommit(r, after)
		payload["head_commit"], payload["commits"] = head, []any{head}
	}
	s.sendEvent(r, "push", "", r.Owner, payload, nil)
}

// headCommit returns the body of a commit in payloads.
func (s *Server) headCommit(r *repository, sha string) map[string]any {
	body, err := s.commitBody(r, sha)
	if err != nil {
		s.problems = append(s.problems, err.Error())
		return nil
	}
	commit := body["commit"].(map[string]any)
	by := map[string]any{"name": "a", "email": "a@example.com", "username": r.Owner}
	return map[string]any{
		"id": sha, "tree_id": commit["tree"].(map[string]any)["sha"], "message": commit["message"], "timestamp": openapi.Moment, "distinct": true,
		"url": body["html_url"], "author": by, "committer": by, "added": []any{}, "removed": []any{}, "modified": []any{},
	}
}

// sendComment sends issue_comment.
func (s *Server) sendComment(r *repository, p *pull, c *Comment, action string) {
	api := fmt.Sprintf("%srepos/%s/issues/%d", s.URL, r.full(), p.number)
	html := fmt.Sprintf("%s/%s/pull/%d", s.WebURL, r.full(), p.number)
	issue := map[string]any{
		"id": 200000 + p.number, "node_id": "I_1", "number": p.number, "title": p.title, "user": s.userBody(p.author), "state": p.state,
		"locked": false, "labels": []any{}, "assignee": nil, "assignees": []any{}, "milestone": nil, "comments": 0, "body": nil,
		"url": api, "html_url": html, "repository_url": s.URL + "repos/" + r.full(), "created_at": openapi.Moment, "updated_at": openapi.Moment, "closed_at": nil,
		"author_association": "CONTRIBUTOR", "draft": p.draft,
		"pull_request": map[string]any{
			"url": fmt.Sprintf("%srepos/%s/pulls/%d", s.URL, r.full(), p.number), "html_url": html,
			"diff_url": html + ".diff", "patch_url": html + ".patch", "merged_at": nil,
		},
	}
	s.sendEvent(r, "issue_comment", action, c.Author, map[string]any{"issue": issue, "comment": s.commentBody(nil, c)}, nil)
}

// sendRun sends check_run to the App of the check run.
func (s *Server) sendRun(r *repository, run *CheckRun, action, sender string, more map[string]any) {
	payload := map[string]any{}
	for name, value := range more {
		payload[name] = value
	}
	body := s.spec.CompleteAs("check-run", s.runBody(r, run))
	body["check_suite"] = s.suiteBody(r, run.App, run.HeadSHA)
	payload["check_run"] = body
	s.sendEvent(r, "check_run", action, sender, payload, func(a *App) bool { return a.Slug == run.App })
}

// sendSuite sends check_suite to one App.
func (s *Server) sendSuite(r *repository, app *App, sha, action, sender string) {
	payload := map[string]any{"check_suite": s.suiteBody(r, app.Slug, sha)}
	s.sendEvent(r, "check_suite", action, sender, payload, func(a *App) bool { return a == app })
}

// sendInstallation sends installation, which every App receives.
func (s *Server) sendInstallation(in *installation, action string) {
	s.emit(in, "installation", action, 0, map[string]any{
		"repositories": s.shortBodies(s.repositories(in)), "requester": nil, "sender": s.userBody(in.account),
	})
}

// sendRepositories sends installation_repositories, which every App receives.
func (s *Server) sendRepositories(in *installation, action string, added, removed []*repository) {
	s.emit(in, "installation_repositories", action, 0, map[string]any{
		"repository_selection": "selected", "repositories_added": s.shortBodies(added), "repositories_removed": s.shortBodies(removed),
		"requester": nil, "sender": s.userBody(in.account),
	})
}

func (s *Server) shortBodies(list []*repository) []any {
	out := []any{}
	for _, r := range list {
		out = append(out, map[string]any{"id": r.id, "node_id": fmt.Sprintf("R_%d", r.id), "name": r.Name, "full_name": r.full(), "private": r.Private})
	}
	return out
}

// MergeGroup is a group of a merge queue.
type MergeGroup struct {
	HeadSHA, HeadRef, BaseSHA, BaseRef string
}

// AddMergeGroup adds a pull request to the merge queue: it creates a merge commit on a branch of
// the queue, and requests checks for it.
func (r *Repository) AddMergeGroup(number int) (g MergeGroup, err error) {
	err = r.server.act(func() error {
		p := r.repo.pull(number)
		if p == nil {
			return fmt.Errorf("queue pull request %d: there is none", number)
		}
		base := r.repo.tip(p.base)
		sha, err := r.repo.mergeCommit(p.base, p.headSHA, fmt.Sprintf("Merge pull request #%d", number))
		if err != nil || sha == "" {
			return fmt.Errorf("queue pull request %d: it does not merge: %w", number, err)
		}
		g = MergeGroup{sha, fmt.Sprintf("refs/heads/gh-readonly-queue/%s/pr-%d-%s", p.base, number, base), base, "refs/heads/" + p.base}
		if err := r.repo.set(g.HeadRef, sha); err != nil {
			return err
		}
		r.server.sendGroup(r.repo, g, "checks_requested", nil)
		return nil
	})
	return g, err
}

// DestroyMergeGroup removes a group from the queue, for the reason "merged", "invalidated" or
// "dequeued".
func (r *Repository) DestroyMergeGroup(g MergeGroup, reason string) error {
	return r.server.act(func() error {
		_, err := r.repo.git("update-ref", "-d", g.HeadRef)
		r.server.sendGroup(r.repo, g, "destroyed", map[string]any{"reason": reason})
		return err
	})
}

// sendGroup sends merge_group.
func (s *Server) sendGroup(r *repository, g MergeGroup, action string, more map[string]any) {
	payload := map[string]any{"merge_group": map[string]any{
		"head_sha": g.HeadSHA, "head_ref": g.HeadRef, "base_sha": g.BaseSHA, "base_ref": g.BaseRef, "head_commit": s.headCommit(r, g.HeadSHA),
	}}
	for name, value := range more {
		payload[name] = value
	}
	s.sendEvent(r, "merge_group", action, "github-merge-queue[bot]", payload, nil)
}
