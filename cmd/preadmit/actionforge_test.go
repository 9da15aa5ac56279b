package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/internal/gittest"
)

// forge is a fake GitHub with one repository, octo/shop, and the environment of a runner.
// The policy of its first commit denies objects with the text deny, and warns about objects
// with the text warn. The main branch adds one object, and the pull request adds one that
// is denied and one with a warning.
type forge struct {
	*gittest.History
	t                *testing.T
	api              *githubtest.Server
	git              *gittest.Server
	temp             string // for the runner
	env              map[string]string
	summary, outputs string // as written by the last run
}

func newForge(t *testing.T, config githubtest.Config) *forge {
	t.Helper()
	return newForgeOf(t, config,
		githubtest.Files{"app/old.yaml": configMap("old", "deny")},
		githubtest.Files{"other/other.yaml": configMap("other", "fine")},
		githubtest.Files{"app/new.yaml": configMap("new", "deny") + "---\n" + configMap("careful", "warn")})
}

// newForgeOf returns a forge with other files besides the policies.
func newForgeOf(t *testing.T, config githubtest.Config, files, others, change githubtest.Files) *forge {
	t.Helper()
	config.Token = "secret"
	api, err := githubtest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	root := t.TempDir()
	git, err := gittest.NewServer(root, "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(git.Close)
	f := &forge{t: t, api: api, git: git, temp: t.TempDir()}
	files["policies/policies.yaml"] = fixture(t, "policies.yaml")
	if f.History, err = gittest.NewHistory(filepath.Join(root, "octo", "shop"), files, others, change); err != nil {
		t.Fatal(err)
	}
	api.SetFiles(githubtest.File{Path: "app/new.yaml", Status: "added"})
	workspace := filepath.Join(f.temp, "workspace")
	if err := os.Mkdir(workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	f.env = map[string]string{
		"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_REPOSITORY": "octo/shop", "GITHUB_RUN_ID": "42",
		"GITHUB_API_URL": strings.TrimSuffix(api.URL, "/"), "GITHUB_SERVER_URL": git.URL, "INPUT_GITHUB_TOKEN": "secret",
		"GITHUB_WORKSPACE": workspace, "RUNNER_TEMP": f.temp, "GITHUB_EVENT_PATH": filepath.Join(f.temp, "event.json"),
		"GITHUB_STEP_SUMMARY": filepath.Join(f.temp, "summary"), "GITHUB_OUTPUT": filepath.Join(f.temp, "outputs"),
	}
	t.Chdir(workspace)
	return f
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "fixture", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func configMap(name, key string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\ndata:\n  %s: \"1\"\n", name, key)
}

// workspace runs git in the runner's workspace.
func (f *forge) workspace(args ...string) {
	f.t.Helper()
	w := gittest.History{Dir: f.env["GITHUB_WORKSPACE"]}
	if _, err := w.Git(args...); err != nil {
		f.t.Fatal(err)
	}
}

// checkout does what actions/checkout does by default: it fetches one commit, without history.
func (f *forge) checkout(hash string) {
	f.t.Helper()
	f.workspace("init", "-q", f.env["GITHUB_WORKSPACE"])
	f.workspace("fetch", "-q", "--depth=1", f.remote(), hash)
	f.workspace("checkout", "-q", "FETCH_HEAD")
}

// remote returns the repository's URL with the token, for git.
func (f *forge) remote() string {
	return strings.Replace(f.git.URL, "://", "://x-access-token:secret@", 1) + "/octo/shop"
}

// event sets the event of the runner.
func (f *forge) event(name, ref, sha string, payload map[string]any) {
	f.t.Helper()
	f.env["GITHUB_EVENT_NAME"], f.env["GITHUB_REF"], f.env["GITHUB_SHA"] = name, ref, sha
	payload["repository"] = map[string]any{"default_branch": "main"}
	data, err := json.Marshal(payload)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.env["GITHUB_EVENT_PATH"], data, 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *forge) pullRequest() {
	f.t.Helper()
	f.event("pull_request", "refs/pull/7/merge", f.Merge, map[string]any{"pull_request": map[string]any{
		"number": 7, "head": map[string]any{"sha": f.Head, "ref": "change"}, "base": map[string]any{"sha": f.Before, "ref": "main"},
	}})
}

// action runs the command as the first step of a job, and checks the exit code.
func (f *forge) action(code int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	for _, name := range []string{"GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"} {
		if err := os.WriteFile(f.env[name], nil, 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
	return f.run(code, args...)
}

// run runs the command as a later step, and checks the exit code.
func (f *forge) run(code int, args ...string) (stdout, stderr string) {
	f.t.Helper()
	var out, errs bytes.Buffer
	got := Main(f.t.Context(), append([]string{"action"}, args...), cli.Process{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return f.env[name] },
	})
	if got != code {
		f.t.Errorf("exit code %d, want %d:\n%s\n%s", got, code, &out, &errs)
	}
	f.summary, f.outputs = f.read("GITHUB_STEP_SUMMARY"), f.read("GITHUB_OUTPUT")
	if p := f.api.Problems(); len(p) > 0 {
		f.t.Errorf("requests that GitHub would not take: %q", p)
	}
	return out.String(), errs.String()
}

func (f *forge) read(variable string) string {
	f.t.Helper()
	data, err := os.ReadFile(f.env[variable])
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// output reads the outputs as a runner does.
func (f *forge) output() map[string]string {
	f.t.Helper()
	values := map[string]string{}
	lines := strings.Split(f.outputs, "\n")
	for i := 0; i+2 < len(lines); i += 3 {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok || lines[i+2] != end {
			f.t.Fatalf("no output at line %d:\n%s", i+1, f.outputs)
		}
		values[name] = lines[i+1]
	}
	return values
}

// findings returns object, status and action of the findings in the report of the outputs.
func (f *forge) findings() []string {
	f.t.Helper()
	data, err := os.ReadFile(f.output()["report"])
	if err != nil {
		f.t.Fatal(err)
	}
	var r struct {
		Findings []struct {
			Status, Action string
			Object         struct{ Name string }
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, x := range r.Findings {
		out = append(out, x.Object.Name+" "+x.Status+" "+x.Action)
	}
	slices.Sort(out)
	return out
}

func (f *forge) want(what string, got, want any) {
	f.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
