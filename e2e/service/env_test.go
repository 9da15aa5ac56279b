package service

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

const policies = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-deny}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: "!has(object.data) || !('deny' in object.data)", message: the key deny is not for us}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-deny}
spec: {policyName: no-deny, validationActions: [Deny]}
`

func configMap(name, key string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\ndata:\n  %s: \"1\"\n", name, key)
}

// env is a fake GitHub with the repository octo/shop, where the App is installed. ConfigMaps
// with the key deny are denied.
type env struct {
	t    *testing.T
	hub  *githubtest.Server
	shop *githubtest.Repository
	app  *githubtest.App
	// key and secret are files with the App's secrets.
	key, secret, client string
	// environment has additional environment variables of replicas.
	environment []string
	// credential is the user that runs replicas; nil means the user of the test.
	credential *syscall.Credential
	// program is the file of preadmit; empty means the built one.
	program string
	// failure is the message of a failed wait, to repeat after the logs of replicas.
	failure *string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	hub, err := githubtest.New(githubtest.Config{})
	w := &env{t: t, hub: hub, environment: []string{"CANARY=" + canary}, failure: new(string)}
	w.must(err)
	t.Cleanup(func() {
		if *w.failure != "" {
			t.Log(*w.failure)
		}
		for _, p := range hub.Problems() {
			t.Errorf("GitHub's description or limits: %s", p)
		}
		hub.Close()
	})
	w.shop = w.repository("shop")
	w.app, err = hub.AddApp(githubtest.AppOptions{})
	w.must(err)
	w.must(second(w.app.Install("octo")))
	dir := t.TempDir()
	w.key, w.secret, w.client = filepath.Join(dir, "key.pem"), filepath.Join(dir, "secret"), filepath.Join(dir, "client")
	w.write(w.key, string(w.app.PrivateKey))
	w.write(w.secret, w.app.WebhookSecret())
	w.write(w.client, w.app.ClientSecret)
	return w
}

// in returns the env for a subtest.
func (w *env) in(t *testing.T) *env {
	c := *w
	c.t = t
	return &c
}

// repository creates a repository of octo.
func (w *env) repository(name string) *githubtest.Repository {
	w.t.Helper()
	return w.repositoryOf("octo", name)
}

func (w *env) repositoryOf(owner, name string) *githubtest.Repository {
	w.t.Helper()
	r, err := w.hub.AddRepository(githubtest.RepositoryOptions{Owner: owner, Name: name, Files: githubtest.Files{
		"policies/policies.yaml": policies, "app/old.yaml": configMap("old", "deny"),
	}})
	w.must(err)
	return r
}

// pull opens a pull request, from a new branch, that adds one ConfigMap.
func (w *env) pull(r *githubtest.Repository, branch, key string) int {
	w.t.Helper()
	w.must(second(r.Push(branch, githubtest.Files{"app/" + branch + ".yaml": configMap(branch, key)})))
	number, err := r.OpenPull(githubtest.PullOptions{Head: branch, Title: "Add " + branch})
	w.must(err)
	return number
}

// checks returns the check runs of a commit, as "status conclusion title".
func (w *env) checks(sha string) []string {
	var out []string
	for _, c := range w.hub.CheckRuns() {
		if c.HeadSHA == sha {
			out = append(out, strings.Join([]string{c.Status, c.Conclusion, c.Title}, " | "))
		}
	}
	return out
}

// comments returns the bodies of the App's comments on a pull request.
func (w *env) comments(r *githubtest.Repository, number int) []string {
	var out []string
	for _, c := range w.hub.Comments() {
		if c.Repo == r.Owner()+"/"+r.Name() && c.Pull == number && c.Author == w.app.Slug+"[bot]" {
			out = append(out, c.Body)
		}
	}
	return out
}

// eventually waits until the values are the expected ones.
func (w *env) eventually(what string, got func() []string, want ...string) {
	w.t.Helper()
	w.within(patience, what, got, want...)
}

// within is eventually with another timeout.
func (w *env) within(limit time.Duration, what string, got func() []string, want ...string) {
	w.t.Helper()
	var last []string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if last = got(); slices.Equal(last, want) {
			return
		}
	}
	*w.failure = fmt.Sprintf("%s: %q, want %q", what, last, want)
	w.t.Fatal(*w.failure)
}

// patience is the timeout for waits on a busy machine.
const patience = 90 * time.Second

// judged waits until a commit has one completed check run by preadmit.
func (w *env) judged(sha, conclusion, title string) {
	w.t.Helper()
	w.eventually("check runs of "+sha, func() []string { return w.checks(sha) }, "completed | "+conclusion+" | "+title)
}

func (w *env) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *env) write(file, text string) {
	w.t.Helper()
	w.must(os.WriteFile(file, []byte(text), 0o600))
}

func second[T any](_ T, err error) error { return err }
