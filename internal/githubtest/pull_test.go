package githubtest

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"
)

// TestPullRequestLives checks changes of a pull request: the API, git, and the events for Apps.
func TestPullRequestLives(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	c := w.client(w.token(nil))
	must(w.repo.Push("change", Files{"app/b.yaml": "b: 1\n", "README.md": Removed}))(t)
	n := must(w.repo.OpenPull(PullOptions{Head: "change", Draft: true, Author: "alice"}))(t)
	first := w.repo.Pull(n)
	check(t, w.repo.SetDraft(n, false))
	must(w.repo.Push("change", Files{"app/b.yaml": "b: 2\n"}))(t)
	second := w.repo.Pull(n)
	must(w.repo.ForcePush("change", "main", Files{"app/c.yaml": "c: 1\n"}))(t)
	check(t, w.repo.SetTitle(n, "Better"))
	must(w.repo.Push("release", Files{"app/r.yaml": "r: 1\n"}))(t)
	check(t, w.repo.SetBase(n, "release"))
	merge := w.repo.Pull(n).MergeSHA
	check(t, w.repo.ClosePull(n))
	check(t, w.repo.ReopenPull(n))
	if now := w.repo.Pull(n).MergeSHA; now != merge {
		t.Errorf("another merge commit %s than %s of the same head and base", now, merge)
	}
	names, events := w.hook.take(t)
	want := []string{
		"push", "pull_request.opened", "pull_request.ready_for_review", "push", "pull_request.synchronize", "push", "pull_request.synchronize",
		"pull_request.edited", "push", "pull_request.edited", "pull_request.closed", "pull_request.reopened",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	forced := events[5].(*github.PushEvent)
	sync := events[6].(*github.PullRequestEvent)
	if !forced.GetForced() || events[3].(*github.PushEvent).GetForced() || sync.GetBefore() != second.HeadSHA || first.HeadSHA == second.HeadSHA {
		t.Errorf("the force push %v and %v", forced, sync.GetBefore())
	}
	if base := events[9].(*github.PullRequestEvent).GetChanges().Base; base.Ref.GetFrom() != "main" {
		t.Errorf("the change of the base %v", base)
	}
	now := w.repo.Pull(n)
	got, _, err := c.PullRequests.Get(ctx, "octo", "shop", n)
	check(t, err)
	if got.GetHead().GetSHA() != now.HeadSHA || got.GetBase().GetRef() != "release" || !got.GetMergeable() || got.GetMergeCommitSHA() != now.MergeSHA ||
		got.GetTitle() != "Better" || got.GetUser().GetLogin() != "alice" || got.GetHead().GetRepo().GetID() != w.repo.ID() {
		t.Errorf("the API says %v", got)
	}
	parents := must(w.repo.repo.git("log", "-1", "--format=%P", "refs/pull/1/merge"))(t)
	if parents != w.repo.Tip("release")+" "+now.HeadSHA {
		t.Errorf("the merge commit's parents %s", parents)
	}
	files, _, err := c.PullRequests.ListFiles(ctx, "octo", "shop", n, nil)
	if err != nil || len(files) != 1 || files[0].GetFilename() != "app/c.yaml" || files[0].GetStatus() != "added" {
		t.Errorf("files %v %v", files, err)
	}
	compared, _, err := c.Repositories.CompareCommits(ctx, "octo", "shop", w.repo.Tip("release"), now.HeadSHA, nil)
	if err != nil || compared.GetMergeBaseCommit().GetSHA() != w.repo.Tip("main") || compared.GetStatus() != "diverged" || compared.GetAheadBy() != 1 {
		t.Errorf("compared %v %v", compared, err)
	}
}

// TestForks checks that pull requests of forks are in the base repository's git, and have no
// repository when the fork is deleted.
func TestForks(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	c := w.client(w.token(nil))
	fork := must(w.repo.Fork("mallory"))(t)
	must(fork.Push("feature/x", Files{"app/b.yaml": "b: 1\n"}))(t)
	n := must(w.repo.OpenPull(PullOptions{From: fork, Head: "feature/x"}))(t)
	sha := must(fork.Push("feature/x", Files{"app/b.yaml": "b: 2\n"}))(t)
	if head := must(w.repo.repo.git("rev-parse", "refs/pull/1/head"))(t); head != sha {
		t.Errorf("refs/pull/1/head is %s, want %s", head, sha)
	}
	pulls, _, err := c.PullRequests.ListPullRequestsWithCommit(ctx, "octo", "shop", sha, nil)
	if err != nil || len(pulls) != 1 || pulls[0].GetNumber() != n {
		t.Errorf("pull requests of the commit: %v %v", pulls, err)
	}
	run, _, err := c.Checks.CreateCheckRun(ctx, "octo", "shop", github.CreateCheckRunOptions{Name: "preadmit", HeadSHA: sha})
	if err != nil || len(run.PullRequests) != 0 {
		t.Errorf("a check run of a fork's commit: %v %v", run.PullRequests, err)
	}
	fork.Delete()
	got, _, err := c.PullRequests.Get(ctx, "octo", "shop", n)
	if err != nil || got.GetHead().Repo != nil || got.GetHead().GetSHA() != sha {
		t.Errorf("%v %v", got.GetHead(), err)
	}
	w.Settle()
	names, _ := w.hook.take(t)
	if diff := cmp.Diff([]string{"pull_request.opened", "pull_request.synchronize", "check_run.created"}, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestMergeableIsFoundOutLater checks Lag, and that a conflict is not mergeable.
func TestMergeableIsFoundOutLater(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	c := w.client(w.token(nil))
	must(w.repo.Push("change", Files{"app/a.yaml": "a: 2\n"}))(t)
	n := must(w.repo.OpenPull(PullOptions{Head: "change", Lag: 2}))(t)
	mergeable := func() (out []any) {
		for range 3 {
			got, _, err := c.PullRequests.Get(ctx, "octo", "shop", n)
			check(t, err)
			if got.Mergeable == nil {
				out = append(out, nil)
			} else {
				out = append(out, *got.Mergeable)
			}
		}
		return out
	}
	if diff := cmp.Diff([]any{nil, nil, true}, mergeable()); diff != "" {
		t.Errorf("mergeable (-want +got):\n%s", diff)
	}
	before := w.repo.Pull(n).MergeSHA
	must(w.repo.Push("main", Files{"app/a.yaml": "a: 3\n"}))(t)
	if diff := cmp.Diff([]any{nil, nil, false}, mergeable()); diff != "" {
		t.Errorf("mergeable after a conflict (-want +got):\n%s", diff)
	}
	if ref := must(w.repo.repo.git("rev-parse", "refs/pull/1/merge"))(t); ref != before {
		t.Errorf("the merge ref moved to %s", ref)
	}
}

// TestMergePull checks that a merge moves the base, and closes the pull request.
func TestMergePull(t *testing.T) {
	w := newWorld(t, Config{})
	must(w.repo.Push("change", Files{"app/b.yaml": "b: 1\n"}))(t)
	n := must(w.repo.OpenPull(PullOptions{Head: "change"}))(t)
	w.hook.take(t)
	check(t, w.repo.MergePull(n, "octo"))
	names, events := w.hook.take(t)
	if diff := cmp.Diff([]string{"pull_request.closed", "push"}, names); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	p := w.repo.Pull(n)
	if !events[0].(*github.PullRequestEvent).GetPullRequest().GetMerged() || !p.Merged || p.State != "closed" ||
		events[1].(*github.PushEvent).GetAfter() != w.repo.Tip("main") || w.repo.Tip("main") != p.MergeSHA {
		t.Errorf("%+v", p)
	}
	if err := w.repo.MergePull(n, "octo"); err == nil {
		t.Error("it merges twice")
	}
}

func TestMergeGroups(t *testing.T) {
	w := newWorld(t, Config{})
	must(w.repo.Push("change", Files{"app/b.yaml": "b: 1\n"}))(t)
	n := must(w.repo.OpenPull(PullOptions{Head: "change"}))(t)
	w.hook.take(t)
	g := must(w.repo.AddMergeGroup(n))(t)
	check(t, w.repo.DestroyMergeGroup(g, "dequeued"))
	reason := bytes.Contains(w.hook.got[1].payload, []byte(`"reason":"dequeued"`))
	names, events := w.hook.take(t)
	if diff := cmp.Diff([]string{"merge_group.checks_requested", "merge_group.destroyed"}, names); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	group := events[0].(*github.MergeGroupEvent)
	if group.GetMergeGroup().GetHeadSHA() != g.HeadSHA || group.GetMergeGroup().GetBaseSHA() != w.repo.Tip("main") || !reason {
		t.Errorf("%v", group)
	}
}

// TestTalk checks comments, reactions, permissions of users, and the buttons of check runs.
func TestTalk(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	c := w.client(w.token(nil))
	must(w.repo.Push("change", Files{"app/b.yaml": "b: 1\n"}))(t)
	n := must(w.repo.OpenPull(PullOptions{Head: "change"}))(t)
	w.repo.SetRole("alice", "maintain")
	w.hook.take(t)
	id := must(w.repo.Comment(n, "alice", "/preadmit rescan"))(t)
	for range 2 {
		_, _, err := c.Reactions.CreateIssueCommentReaction(ctx, "octo", "shop", id, "eyes")
		check(t, err)
	}
	if got := w.Comments()[0].Reactions; !slices.Equal(got, []string{"eyes preadmit[bot]"}) {
		t.Errorf("reactions %v", got)
	}
	roles := map[string]string{}
	for _, login := range []string{"alice", "octo", "mallory"} {
		level, _, err := c.Repositories.GetPermissionLevel(ctx, "octo", "shop", login)
		check(t, err)
		roles[login] = level.GetPermission()
	}
	if diff := cmp.Diff(map[string]string{"alice": "write", "octo": "admin", "mallory": "none"}, roles); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	run, _, err := c.Checks.CreateCheckRun(ctx, "octo", "shop", github.CreateCheckRunOptions{
		Name: "preadmit", HeadSHA: w.repo.Pull(n).HeadSHA, Actions: []*github.CheckRunAction{{Label: "Again", Description: "Once more", Identifier: "rescan"}},
	})
	check(t, err)
	if err := w.repo.RequestAction(run.GetID(), "other", "alice"); err == nil {
		t.Error("a button that is not there was pressed")
	}
	check(t, w.repo.RerequestRun(run.GetID(), "alice"))
	check(t, w.repo.RequestAction(run.GetID(), "rescan", "alice"))
	check(t, w.repo.RerequestSuite(w.app, run.GetHeadSHA(), "alice"))
	names, events := w.hook.take(t)
	want := []string{"issue_comment.created", "check_run.created", "check_run.rerequested", "check_run.requested_action", "check_suite.rerequested"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	comment, again := events[0].(*github.IssueCommentEvent), events[2].(*github.CheckRunEvent)
	if !comment.GetIssue().IsPullRequest() || comment.GetComment().GetID() != id || comment.GetSender().GetLogin() != "alice" {
		t.Errorf("the comment %v", comment)
	}
	if again.GetCheckRun().GetApp().GetID() != w.app.ID || len(again.GetCheckRun().PullRequests) != 1 || again.GetInstallation().GetID() != w.installed.in.id {
		t.Errorf("the re-run %v", again)
	}
}
