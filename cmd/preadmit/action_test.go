package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/githubtest"
)

// changeFindings are the findings of the pull request.
func changeFindings() []string { return []string{"careful new Warn", "new new Deny"} }

func TestActionPullRequest(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.pullRequest()
	f.env["INPUT_CHECK_RUN"], f.env["INPUT_COMMENT"], f.env["INPUT_SARIF"] = "true", "true", "true"
	stdout, stderr := f.action(cli.ExitFindings)

	f.want("findings", f.findings(), changeFindings())
	f.want("requests", f.api.Wrote(), []string{
		"POST check-runs 201", "POST code-scanning/sarifs 202", "POST issues/7/comments 201", "PATCH check-runs/1001 200",
	})
	if !strings.Contains(stderr, "base is "+f.Base+" (main), head is "+f.Merge) {
		t.Errorf("stderr does not say what is compared:\n%s", stderr)
	}
	run := f.api.CheckRuns()[0]
	f.want("check run", []string{run.HeadSHA, run.Conclusion, run.Title, run.DetailsURL, fmt.Sprint(len(run.Annotations))},
		[]string{f.Head, "failure", "1 denied, 1 warning", f.git.URL + "/octo/shop/actions/runs/42", "2"})
	sarif := f.api.SARIFs()[0]
	f.want("SARIF", []string{sarif.Ref, sarif.CommitSHA}, []string{"refs/pull/7/merge", f.Merge})
	if body := f.api.Comments()[0].Body; !strings.Contains(body, f.git.URL+"/octo/shop/blob/"+f.Merge+"/app/new.yaml#L") {
		t.Errorf("the comment links no line of what was judged:\n%s", body)
	}
	if strings.Contains(stdout, "::error") {
		t.Errorf("there are annotations besides those of the check run:\n%s", stdout)
	}
	values := f.output()
	f.want("outputs", slices.Sorted(maps.Keys(values)), []string{"conclusion", "denied", "report", "sarif", "warned"})
	f.want("counts", []string{values["denied"], values["warned"], values["conclusion"]}, []string{"1", "1", "failure"})
	if !strings.Contains(f.summary, "app/new.yaml") {
		t.Errorf("summary:\n%s", f.summary)
	}

	// A second run changes nothing at GitHub.
	f.api.Forget()
	f.action(cli.ExitFindings)
	f.want("requests the second time", f.api.Wrote(), []string(nil))
}

// TestActionFork: the token of a pull request from a fork may only read.
func TestActionFork(t *testing.T) {
	f := newForge(t, githubtest.Config{ReadOnly: true})
	f.checkout(f.Merge)
	f.pullRequest()
	stdout, _ := f.action(cli.ExitFindings, "--check-run", "--comment", "--sarif")
	f.want("findings", f.findings(), changeFindings())
	f.want("requests", f.api.Wrote(), []string{
		"POST check-runs 403", "POST code-scanning/sarifs 403", "POST issues/7/comments 403",
	})
	for _, what := range []string{"No check run: ", "No upload of SARIF: ", "No comment: "} {
		if !strings.Contains(stdout, "::notice title=preadmit::"+what) || !strings.Contains(f.summary, what) {
			t.Errorf("nothing says %q:\n%s\n%s", what, stdout, f.summary)
		}
	}
	for _, command := range []string{"::error file=app/new.yaml,line=5", "::warning file=app/new.yaml,line=11"} {
		if !strings.Contains(stdout, command) {
			t.Errorf("there is no annotation %q:\n%s", command, stdout)
		}
	}
}

// TestActionWithoutCheckout: nothing is published unless requested, and without a checkout all
// commits are fetched.
func TestActionWithoutCheckout(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.pullRequest()
	stdout, _ := f.action(cli.ExitFindings)
	f.want("findings", f.findings(), changeFindings())
	f.want("requests", len(f.api.Requests()), 0)
	if !strings.Contains(stdout, "::error file=app/new.yaml,line=5") {
		t.Errorf("there is no annotation:\n%s", stdout)
	}
	if left, _ := filepath.Glob(filepath.Join(f.temp, "preadmit-*", "fetched")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// TestActionStaleMerge: a merge commit of another head is not judged.
func TestActionStaleMerge(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	if _, err := f.Git("checkout", "-q", "--detach", f.Head); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.Head, err = f.Commit(githubtest.Files{"app/newer.yaml": configMap("newer", "deny")}); err != nil {
		t.Fatal(err)
	}
	f.pullRequest()
	stdout, _ := f.action(cli.ExitFindings, "--sarif")
	f.want("findings", f.findings(), append(changeFindings(), "newer new Deny"))
	if sarif := f.api.SARIFs(); len(sarif) != 1 || sarif[0].Ref != "refs/pull/7/head" || sarif[0].CommitSHA != f.Head {
		t.Errorf("SARIF %+v", sarif)
	}
	if !strings.Contains(stdout, "is not the merge of the pull request's head") {
		t.Errorf("nothing says so:\n%s", stdout)
	}
}

func TestActionPush(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	push := func(ref, before, after string, forced bool) {
		f.event("push", ref, after, map[string]any{"before": before, "after": after, "forced": forced, "ref": ref})
	}
	everything := []string{"careful new Warn", "new new Deny", "old new Deny"}

	push("refs/heads/main", f.Base, f.Merge, false)
	f.action(cli.ExitFindings, "--sarif", "--check-run")
	f.want("findings of a push", f.findings(), changeFindings())
	f.want("check run", f.api.CheckRuns()[0].HeadSHA, f.Merge)
	sarif := f.api.SARIFs()[0]
	f.want("SARIF", []string{sarif.Ref, sarif.CommitSHA}, []string{"refs/heads/main", f.Merge})
	if !strings.Contains(string(sarif.Log), "app/old.yaml") {
		t.Error("code scanning would take what a push does not touch for fixed")
	}

	push("refs/heads/topic", strings.Repeat("0", 40), f.Merge, false)
	_, stderr := f.action(cli.ExitFindings)
	f.want("findings of a new branch", f.findings(), changeFindings())
	if !strings.Contains(stderr, "base is "+f.Base+" (merge base with refs/heads/main)") {
		t.Errorf("stderr:\n%s", stderr)
	}

	push("refs/heads/main", strings.Repeat("0", 40), f.Merge, false)
	f.action(cli.ExitFindings)
	f.want("findings of a first push", f.findings(), everything)

	gone := strings.Repeat("1", 40)
	push("refs/heads/topic", gone, f.Merge, true)
	stdout, _ := f.action(cli.ExitFindings)
	f.want("findings of a forced push", f.findings(), changeFindings())
	if !strings.Contains(stdout, "cannot be had any more") {
		t.Errorf("nothing says so:\n%s", stdout)
	}
	push("refs/heads/topic", gone, f.Merge, false)
	if _, stderr := f.action(cli.ExitIncomplete); !strings.Contains(stderr, "get the commit "+gone) {
		t.Errorf("stderr:\n%s", stderr)
	}

	push("refs/tags/v1", strings.Repeat("0", 40), f.Merge, false)
	stdout, _ = f.action(cli.ExitFindings, "--sarif")
	f.want("findings of a tag", f.findings(), everything)
	if !strings.Contains(stdout, "not refs/tags/v1") {
		t.Errorf("nothing says that there is no SARIF:\n%s", stdout)
	}

	f.event("push", "refs/heads/topic", f.Base, map[string]any{"before": f.Merge, "after": strings.Repeat("0", 40), "deleted": true})
	if _, stderr := f.action(cli.ExitClean); !strings.Contains(stderr, "the push deletes refs/heads/topic: there is nothing to judge") {
		t.Errorf("stderr:\n%s", stderr)
	}
}

func TestActionMergeGroup(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	ref := "refs/heads/gh-readonly-queue/main/pr-7-" + f.Base
	f.event("merge_group", ref, f.Merge, map[string]any{"merge_group": map[string]any{
		"head_sha": f.Merge, "head_ref": ref, "base_sha": f.Base, "base_ref": "refs/heads/main",
	}})
	stdout, _ := f.action(cli.ExitFindings, "--sarif", "--check-run", "--comment")
	f.want("findings", f.findings(), changeFindings())
	f.want("requests", f.api.Wrote(), []string{"POST check-runs 201", "PATCH check-runs/1001 200"})
	for _, notice := range []string{"code scanning does not show results of a merge queue", "there is no pull request"} {
		if !strings.Contains(stdout, notice) {
			t.Errorf("nothing says %q:\n%s", notice, stdout)
		}
	}
}

func TestActionDispatch(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.event("workflow_dispatch", "refs/heads/topic", f.Merge, map[string]any{})
	f.action(cli.ExitFindings)
	f.want("findings", f.findings(), []string{"careful new Warn", "new new Deny", "old new Deny"})
	for _, base := range []string{"main", "origin/main", "refs/heads/main", f.Base} {
		f.env["INPUT_BASE"] = base
		f.action(cli.ExitFindings)
		f.want("findings with base "+base, f.findings(), changeFindings())
	}
	f.env["INPUT_BASE"] = "none"
	if _, stderr := f.action(cli.ExitUsage); !strings.Contains(stderr, "base none: ") {
		t.Errorf("stderr:\n%s", stderr)
	}
}

// TestActionRepublish: the run for a pull request from a fork writes a report, and another
// run publishes it.
func TestActionRepublish(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.pullRequest()
	f.action(cli.ExitFindings)
	written := f.output()["report"]
	run := map[string]any{"event": "pull_request", "head_sha": f.Head}
	f.event("workflow_run", "refs/heads/main", f.Base, map[string]any{"workflow_run": run})
	f.action(cli.ExitClean, "--from", written, "--check-run", "--comment")
	f.want("requests", f.api.Wrote(), []string{"POST check-runs 201", "POST issues/7/comments 201", "PATCH check-runs/1001 200"})
	check := f.api.CheckRuns()[0]
	f.want("check run", []string{check.HeadSHA, check.Conclusion}, []string{f.Head, "failure"})

	// failOn comes from the default branch, for which the workflow runs.
	lenient, err := f.Commit(githubtest.Files{".preadmit.yaml": "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nfailOn: never\n"})
	if err != nil {
		t.Fatal(err)
	}
	f.event("workflow_run", "refs/heads/main", lenient, map[string]any{"workflow_run": run})
	f.action(cli.ExitClean, "--from", written, "--check-run")
	check = f.api.CheckRuns()[1]
	f.want("check run of a lenient branch", []string{check.HeadSHA, check.Conclusion}, []string{f.Head, "success"})

	for _, test := range []struct {
		event, head, from, want string
		code                    int
	}{
		{"push", f.Head, written, "did so for push, not for a pull_request", cli.ExitUsage},
		{"pull_request", f.Before, written, "no pull request of ", cli.ExitIncomplete},
		{"pull_request", f.Head, "", "workflow_run needs --from", cli.ExitUsage},
		{"pull_request", f.Head, f.env["GITHUB_EVENT_PATH"], "read report", cli.ExitUsage},
		{"pull_request", f.Head, "none.json", "--from: there is no file or directory none.json", cli.ExitUsage},
	} {
		f.event("workflow_run", "refs/heads/main", f.Base, map[string]any{
			"workflow_run": map[string]any{"event": test.event, "head_sha": test.head},
		})
		f.env["INPUT_FROM"] = test.from
		if _, stderr := f.action(test.code, "--comment"); !strings.Contains(stderr, test.want) {
			t.Errorf("stderr, want %q:\n%s", test.want, stderr)
		}
	}
}

// TestActionPublishingFails: a failure that the token does not cause fails an otherwise
// clean run.
func TestActionPublishingFails(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.pullRequest()
	f.api.Intercept(githubtest.Rule{Method: "POST", Path: "/comments", Status: 422, Message: "no"})
	_, stderr := f.action(cli.ExitIncomplete, "--comment", "--fail-on", "never")
	if !strings.Contains(stderr, "the report could not be published: comment on the pull request") {
		t.Errorf("stderr:\n%s", stderr)
	}
	f.want("findings", f.findings(), changeFindings())

	// Without a token all commits must be in the checkout.
	f.workspace("fetch", "-q", "--unshallow", f.remote(), f.Merge)
	delete(f.env, "INPUT_GITHUB_TOKEN")
	stdout, _ := f.action(cli.ExitClean, "--comment", "--fail-on", "never")
	if !strings.Contains(stdout, "There is no token") {
		t.Errorf("nothing says so:\n%s", stdout)
	}
}

// TestActionAbandons: a scan that fails leaves no check run in progress.
func TestActionAbandons(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.pullRequest()
	broken := filepath.Join(f.temp, "broken.yaml")
	if err := os.WriteFile(broken, []byte("failOn: [\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr := f.action(cli.ExitUsage, "--check-run", "--config", broken)
	run := f.api.CheckRuns()[0]
	f.want("check run", []string{run.Status, run.Conclusion, run.Title}, []string{"completed", "failure", "The scan could not be completed"})
	if !strings.Contains(stderr, "configuration:") {
		t.Errorf("stderr:\n%s", stderr)
	}
}

// TestActionCheckRunEnds: when a report cannot be published, no check run stays in
// progress, and the log has the reason also when the verdict fails the run.
func TestActionCheckRunEnds(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.pullRequest()
	last := func() []string {
		runs := f.api.CheckRuns()
		run := runs[len(runs)-1]
		return []string{run.Status, run.Conclusion, run.Title}
	}

	// If the files may not be listed, the run has the annotations.
	f.api.Intercept(githubtest.Rule{Method: "GET", Path: "/files", Status: 403, Message: "Resource not accessible by integration"})
	stdout, _ := f.action(cli.ExitFindings, "--check-run", "--name", "unlisted")
	f.want("check run", last(), []string{"completed", "failure", "1 denied, 1 warning"})
	for _, text := range []string{"::notice title=preadmit::The check run has no annotations: ", "::error file=app/new.yaml,line=5"} {
		if !strings.Contains(stdout, text) {
			t.Errorf("stdout lacks %q:\n%s", text, stdout)
		}
	}

	for _, test := range []struct {
		name, method, path string
		verdict            string
		code               int
	}{
		{"list", "GET", "/files", "deny", cli.ExitFindings},
		{"write", "PATCH", "", "deny", cli.ExitFindings},
		{"write, clean", "PATCH", "", "never", cli.ExitIncomplete},
	} {
		f.api.Intercept(githubtest.Rule{Method: test.method, Path: test.path, Status: 422, Message: "no"})
		stdout, stderr := f.action(test.code, "--check-run", "--name", test.name, "--fail-on", test.verdict)
		f.want(test.name, last(), []string{"completed", "failure", "The report could not be published"})
		const told = "the report could not be published: "
		if test.code == cli.ExitFindings && !strings.Contains(stdout, "::notice title=preadmit::"+told) ||
			test.code == cli.ExitIncomplete && !strings.Contains(stderr, told) {
			t.Errorf("%s: nothing tells of it:\n%s\n%s", test.name, stdout, stderr)
		}
		if test.code == cli.ExitFindings && !strings.Contains(stdout, "::error file=app/new.yaml,line=5") {
			t.Errorf("%s: there is no annotation:\n%s", test.name, stdout)
		}
	}
}

func TestActionRefuses(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	for _, test := range []struct {
		name, event string
		env         map[string]string
		want        string
	}{
		{"pull_request_target", "pull_request_target", nil, "pull_request_target is refused"},
		{"another event", "issues", nil, "the event issues has no change"},
		{"no pull request", "pull_request", nil, "the event pull_request has no pull_request"},
		{"no group", "merge_group", nil, "the event merge_group has no merge_group"},
		{"no run", "workflow_run", map[string]string{"INPUT_FROM": "x"}, "the event workflow_run has no workflow_run"},
		{"from", "push", map[string]string{"INPUT_FROM": "x"}, "is for workflow_run only"},
		{"no event", "", nil, "GITHUB_EVENT_NAME is not set"},
		{"repository", "push", map[string]string{"GITHUB_REPOSITORY": "../x"}, `"../x" is no OWNER/REPOSITORY`},
		{"API", "push", map[string]string{"GITHUB_API_URL": "file:///x"}, "GITHUB_API_URL: want a URL"},
		{"fail-on", "push", map[string]string{"INPUT_FAIL_ON": "all"}, `input fail-on: "all": want one of deny`},
		{"hyphens", "push", map[string]string{"INPUT_FAIL-ON": "some"}, `input fail-on: "some": want one of deny`},
		{"a boolean", "push", map[string]string{"INPUT_COMMENT": "perhaps"}, `input comment: "perhaps": `},
		{"globs", "push", map[string]string{"INPUT_ROOTS": "a\n[\n"}, "--roots: "},
		{"path", "push", map[string]string{"INPUT_PATH": "../../.."}, "is not inside the workspace"},
		{"event file", "push", map[string]string{"GITHUB_EVENT_PATH": "none"}, "GITHUB_EVENT_PATH: there is no file or directory none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.event(test.event, "refs/heads/main", f.Merge, map[string]any{"before": f.Base, "after": f.Merge})
			before := maps.Clone(f.env)
			maps.Copy(f.env, test.env)
			_, stderr := f.action(cli.ExitUsage)
			f.env = before
			if !strings.Contains(stderr, test.want) {
				t.Errorf("stderr, want %q:\n%s", test.want, stderr)
			}
		})
	}
}

// TestActionInputs: inputs set flags.
func TestActionInputs(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.pullRequest()
	f.env["INPUT_ROOTS"] = "other\n\n  policies  \n"
	f.env["INPUT_FORMAT"] = "json"
	stdout, _ := f.action(cli.ExitClean)
	f.want("findings of other roots", f.findings(), []string(nil))
	if !strings.Contains(stdout, `"kind": "ScanReport"`) {
		t.Errorf("stdout is no JSON:\n%s", stdout)
	}
	delete(f.env, "INPUT_ROOTS")
	f.env["INPUT_PATH"] = "other"
	f.action(cli.ExitClean)
	f.want("findings below other", f.findings(), []string(nil))
	f.env["INPUT_PATH"] = ""
	f.action(cli.ExitFindings)
	f.env["INPUT_FAIL_ON"] = "never"
	f.action(cli.ExitClean)
	f.action(cli.ExitFindings, "--fail-on", "deny") // the command line wins
}
