package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/testall"
)

// token is the token of a workflow.
const token = "ghs_of-the-workflow"

// workflows returns the workflows of the documentation, by their beginning.
func workflows(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository(t), "docs", "action.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		if strings.Contains(block[1], "\njobs:") {
			all = append(all, block[1])
		}
	}
	if len(all) != 6 {
		t.Fatalf("the documentation has %d workflows, want 6", len(all))
	}
	return all
}

// The workflows of the documentation, in its order.
const (
	plain = iota
	talking
	scanning
	judging
	publishing
	queue
)

// servers are a fake GitHub and its git server, with a repository octo/shop.
type servers struct {
	*gittest.History
	api *githubtest.Server
	git *gittest.Server
}

func newServers(t *testing.T, config githubtest.Config) *servers {
	t.Helper()
	config.Token = token
	api, err := githubtest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	api.SetFiles(githubtest.File{Path: "app/new.yaml", Status: "added"})
	root := t.TempDir()
	git, err := gittest.NewServer(root, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(git.Close)
	history, err := gittest.NewHistory(filepath.Join(root, "octo", "shop"),
		githubtest.Files{"policies/policies.yaml": policies, "app/old.yaml": configMap("old", "deny")},
		githubtest.Files{"other/other.yaml": configMap("other", "fine")},
		githubtest.Files{"app/new.yaml": configMap("new", "deny") + "---\n" + configMap("careful", "warn")})
	if err != nil {
		t.Fatal(err)
	}
	return &servers{history, api, git}
}

// runner runs workflows as GitHub does.
type runner struct {
	*servers
	t         *testing.T
	act       string
	release   string
	artifacts string
	workflows []string
	log       string // of the last run
}

// newRunner returns a runner. It needs the programs that `make action-test` builds.
func newRunner(t *testing.T, release string, config githubtest.Config) *runner {
	t.Helper()
	return &runner{
		servers: newServers(t, config), t: t, act: tool(t, "act"), release: release,
		artifacts: t.TempDir(), workflows: workflows(t),
	}
}

// tool returns a program that `make action-test` builds.
func tool(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(repository(t), "bin", "e2e", name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("there is no %s: make action-test builds it", name)
	}
	return file
}

const policies = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: denials}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations:
  - expression: "!('deny' in object.data)"
    message: the key deny is denied
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: denials}
spec: {policyName: denials, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: warnings}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations:
  - expression: "!('warn' in object.data)"
    message: the key warn is warned of
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: warnings}
spec: {policyName: warnings, validationActions: [Warn]}
`

func configMap(name, key string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\ndata:\n  %s: \"1\"\n", name, key)
}

// event runs a workflow for an event and reports whether it succeeded.
func (r *runner) event(workflow int, name, ref, sha string, payload map[string]any) bool {
	r.t.Helper()
	dir := r.t.TempDir()
	payload["repository"] = map[string]any{"default_branch": "main"}
	event, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	for file, text := range map[string]string{"event.json": string(event), "work/.github/workflows/preadmit.yaml": r.workflows[workflow]} {
		full := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	args := []string{
		name, "--eventpath", filepath.Join(dir, "event.json"), "--platform", "ubuntu-latest=-self-hosted",
		"--no-skip-checkout", "--no-cache-server", "--secret", "GITHUB_TOKEN=" + token, "--defaultbranch", "main",
		"--action-cache-path", filepath.Join(dir, "cache"),
		"--local-repository", "preadmit/preadmit@" + tag + "=" + r.action(),
		"--local-repository", "actions/checkout@v7=" + r.stand("checkout"),
		"--local-repository", "actions/upload-artifact@v4=" + r.stand("upload-artifact"),
		"--local-repository", "actions/download-artifact@v4=" + r.stand("download-artifact"),
	}
	for variable, value := range map[string]string{
		"GITHUB_REPOSITORY": "octo/shop", "GITHUB_REF": ref, "SHA_REF": sha, "GITHUB_RUN_ID": "42",
		"GITHUB_SERVER_URL": r.git.URL, "GITHUB_API_URL": strings.TrimSuffix(r.api.URL, "/"),
		"E2E_RELEASE": r.release, "E2E_TAG": tag, "E2E_ARTIFACTS": r.artifacts,
	} {
		args = append(args, "--env", variable+"="+value)
	}
	cmd := exec.CommandContext(r.t.Context(), r.act, args...)
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = append(os.Environ(), searchPath(r.t), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err = cmd.Run()
	r.log = log.String()
	if testing.Verbose() {
		r.t.Log(r.log)
	}
	if p := r.api.Problems(); len(p) > 0 {
		r.t.Errorf("requests that GitHub would not take: %q", p)
	}
	return err == nil
}

// action returns a directory with the files of this repository that a user of the Action gets.
func (r *runner) action() string {
	r.t.Helper()
	dir := r.t.TempDir()
	for _, file := range []string{"action.yml", "action/install.sh"} {
		data, err := os.ReadFile(filepath.Join(repository(r.t), file))
		if err != nil {
			r.t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o755); err != nil {
			r.t.Fatal(err)
		}
	}
	return dir
}

func (r *runner) stand(name string) string {
	r.t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		r.t.Fatal(err)
	}
	return dir
}

func (r *runner) pullRequest(workflow int) bool {
	r.t.Helper()
	return r.event(workflow, "pull_request", "refs/pull/7/merge", r.Merge, map[string]any{
		"number": 7,
		"pull_request": map[string]any{
			"number": 7, "head": map[string]any{"sha": r.Head, "ref": "change"}, "base": map[string]any{"sha": r.Before, "ref": "main"},
		},
	})
}

func (r *runner) want(what string, got, want any) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s\n%s", what, diff, r.log)
	}
}

func (r *runner) says(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.log, text) {
			r.t.Errorf("the log does not say %q:\n%s", text, r.log)
		}
	}
}

// TestWorkflows runs the workflows of the documentation unchanged.
func TestWorkflows(t *testing.T) {
	testall.Long(t)
	tool(t, "act")
	release, _ := release(t, tool(t, "preadmit"))
	for _, test := range []struct {
		name string
		run  func(r *runner)
	}{
		{"pull request", testPlain}, {"same repository", testTalking}, {"fork", testFork}, {"code scanning", testScanning},
		{"push", testPush}, {"merge queue", testQueue}, {"fork, published later", testPublishing}, {"clean", testClean},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(newRunner(t, release, githubtest.Config{})) })
	}
}

func testPlain(r *runner) {
	r.want("success", r.pullRequest(plain), false)
	r.says("base is "+r.Base+" (main), head is "+r.Merge, "file=app/new.yaml,line=5", "file=app/new.yaml,line=11", "the key deny is denied")
	r.want("requests", len(r.api.Requests()), 0)
}

func testTalking(r *runner) {
	r.want("success", r.pullRequest(talking), false)
	r.want("requests", r.api.Wrote(), []string{"POST check-runs 201", "POST issues/7/comments 201", "PATCH check-runs/1001 200"})
	run := r.api.CheckRuns()[0]
	r.want("check run", []string{run.HeadSHA, run.Conclusion, run.Title, run.DetailsURL},
		[]string{r.Head, "failure", "1 denied, 1 warning", r.git.URL + "/octo/shop/actions/runs/42"})
	r.want("annotated", []string{run.Annotations[0].Path, run.Annotations[0].Level}, []string{"app/new.yaml", "failure"})
}

func testFork(r *runner) {
	r.api.Set(func(c *githubtest.Config) { c.ReadOnly = true })
	r.want("success", r.pullRequest(talking), false)
	r.want("requests", r.api.Wrote(), []string{"POST check-runs 403", "POST issues/7/comments 403"})
	r.says("No check run: ", "No comment: ", "that of a pull request from a fork never has it", "file=app/new.yaml,line=5")
}

func testScanning(r *runner) {
	r.want("success", r.pullRequest(scanning), false)
	sarif := r.api.SARIFs()
	r.want("uploads", len(sarif), 1)
	r.want("SARIF", []string{sarif[0].Ref, sarif[0].CommitSHA}, []string{"refs/pull/7/merge", r.Merge})
}

func testPush(r *runner) {
	ok := r.event(scanning, "push", "refs/heads/main", r.Base, map[string]any{
		"ref": "refs/heads/main", "before": r.Before, "after": r.Base, "deleted": false, "forced": false,
	})
	r.want("success", ok, true)
	r.want("requests", r.api.Wrote(), []string{"POST code-scanning/sarifs 202"})
	sarif := r.api.SARIFs()[0]
	r.want("SARIF", []string{sarif.Ref, sarif.CommitSHA}, []string{"refs/heads/main", r.Base})
	if !strings.Contains(string(sarif.Log), "app/old.yaml") {
		r.t.Error("code scanning would take what the push does not touch for fixed")
	}
}

func testQueue(r *runner) {
	ref := "refs/heads/gh-readonly-queue/main/pr-7-" + r.Base
	ok := r.event(queue, "merge_group", ref, r.Merge, map[string]any{"merge_group": map[string]any{
		"head_sha": r.Merge, "head_ref": ref, "base_sha": r.Base, "base_ref": "refs/heads/main",
	}})
	r.want("success", ok, false)
	r.says("base is "+r.Base, "file=app/new.yaml,line=5")
	r.want("requests", len(r.api.Requests()), 0)
}

// testPublishing: the token of the first workflow may only read, that of the second may write.
// TestActionFile in cmd/preadmit checks that action.yml passes the outputs on. This cannot be
// checked here, as act always passes the outputs of an inner step to the outer one.
func testPublishing(r *runner) {
	r.api.Set(func(c *githubtest.Config) { c.ReadOnly = true })
	r.want("success", r.pullRequest(judging), false)
	r.api.Set(func(c *githubtest.Config) { c.ReadOnly = false })
	ok := r.event(publishing, "workflow_run", "refs/heads/main", r.Base, map[string]any{"workflow_run": map[string]any{
		"id": 41, "event": "pull_request", "head_sha": r.Head,
	}})
	r.want("success", ok, true)
	r.want("requests", r.api.Wrote(), []string{"POST check-runs 201", "POST issues/7/comments 201", "PATCH check-runs/1001 200"})
	run := r.api.CheckRuns()[0]
	r.want("check run", []string{run.HeadSHA, run.Conclusion}, []string{r.Head, "failure"})
}

// testClean: a pull request without findings succeeds and has no comment.
func testClean(r *runner) {
	head, err := r.Commit(githubtest.Files{"other/more.yaml": configMap("more", "fine")})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Head, r.Merge = head, head // not a merge: its merge base with the target is the base
	r.want("success", r.pullRequest(talking), true)
	r.want("requests", r.api.Wrote(), []string{"POST check-runs 201", "PATCH check-runs/1001 200"})
	r.want("conclusion", r.api.CheckRuns()[0].Conclusion, "success")
}
