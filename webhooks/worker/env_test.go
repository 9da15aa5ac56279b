package worker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
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

// env has a GitHub with the repository octo/shop, the App installed there, a queue, and a worker with
// the fake scanner. A policy in main denies the key deny; pull request 1 adds one object that is
// denied.
type env struct {
	t         *testing.T
	hub       *githubtest.Server
	shop      *githubtest.Repository
	app       *githubtest.App
	installed *githubtest.Installation
	// installation is the id of installed.
	installation int64
	queue        *queue.Queue
	queueConf    queue.Config
	scanner      *gate
	config       Config
	log          *lockedBuffer
	// wire is the transport of requests to GitHub's API.
	wire *wire
}

func newEnv(t *testing.T) *env {
	t.Helper()
	t.Parallel() // a test mostly waits for disks and processes
	w := &env{t: t, log: &lockedBuffer{}, wire: &wire{}}
	hub, err := githubtest.New(githubtest.Config{})
	w.must(err)
	w.hub = hub
	t.Cleanup(w.look)
	t.Cleanup(hub.Close)
	w.shop, err = hub.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: "shop", Files: githubtest.Files{
		"policies/policies.yaml": policies, "app/old.yaml": configMap("old", "deny"),
	}})
	w.must(err)
	w.app, err = hub.AddApp(githubtest.AppOptions{})
	w.must(err)
	w.installed, err = w.app.Install("octo")
	w.must(err)
	w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})))
	w.must(second(w.shop.OpenPull(githubtest.PullOptions{Head: "change", Title: "Add <b>a map</b>"})))

	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := app.New(app.Config{
		BaseURL: hub.URL, WebURL: hub.WebURL, Clock: hasty{}, Log: log, Transport: w.wire,
		Credentials: app.Credentials{ID: w.app.ID, PrivateKey: w.app.PrivateKey, WebhookSecret: w.app.WebhookSecret()},
	})
	w.must(err)
	w.installation, _, err = a.InstallationOf(t.Context(), "octo", "shop")
	w.must(err)
	w.queueConf = queue.Config{Dir: t.TempDir(), Attempts: 3, Backoff: []time.Duration{time.Millisecond}}
	w.openQueue()
	w.scanner = &gate{Scanner: fakeScanner{}}
	w.config = Config{
		App: a, Scanner: w.scanner, PublicURL: "https://preadmit.example", TempDir: t.TempDir(), Clock: hasty{}, Log: log,
		Drain: 20 * time.Second, MergeWait: time.Millisecond, MergePatience: time.Millisecond, LimitWait: time.Millisecond, Version: "v0",
	}
	return w
}

func (w *env) openQueue() {
	w.t.Helper()
	q, err := queue.Open(w.t.Context(), w.queueConf)
	w.must(err)
	w.queue = q
	w.t.Cleanup(func() { _ = q.Close(context.Background()) }) // it may be closed already
}

func (w *env) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// look checks at the end of a test what must be true for every test: GitHub had no problems, and
// secrets occur only in requests that need them.
func (w *env) look() {
	for _, p := range w.hub.Problems() {
		w.t.Errorf("GitHub's description or limits: %s", p)
	}
	said := w.log.String()
	for _, c := range w.hub.Comments() {
		said += c.Body
	}
	for _, r := range w.hub.CheckRuns() {
		said += r.Title + r.Summary + r.Text
	}
	if w.queue != nil {
		said += fmt.Sprint(w.queue.Scans(queue.ScanFilter{}))
	}
	for _, secret := range append(w.hub.Tokens(), "BEGIN RSA") {
		if strings.Contains(said, secret) {
			w.t.Errorf("a secret was told: %.20s...", secret)
		}
	}
	if w.t.Failed() {
		w.t.Logf("log:\n%s", w.log)
	}
}

// worker returns a worker with the test's configuration.
func (w *env) worker() *Worker {
	c := w.config
	c.Queue = w.queue
	return New(c)
}

// task returns a task of an unclaimed job, for tests of parts of the work.
func (w *env) task(j queue.Job) *task {
	w.t.Helper()
	worker := w.worker()
	dir, err := openWorkDir(w.t.TempDir())
	w.must(err)
	w.t.Cleanup(dir.close)
	worker.workDir = dir
	return worker.newTask(&queue.Claim{Job: j, Attempt: 1})
}

// start runs a worker; stop ends it and waits.
func (w *env) start() (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	worker := w.worker()
	go func() { done <- worker.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				w.t.Error(err)
			}
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// work runs a worker until no job is left.
func (w *env) work() {
	w.t.Helper()
	stop := w.start()
	w.idle()
	stop()
}

// idle waits until no job is left.
func (w *env) idle() {
	w.t.Helper()
	w.until("the queue is empty", func() bool {
		s, err := w.queue.Stats(w.t.Context())
		w.must(err)
		return s.Pending+s.Running == 0
	})
}

func (w *env) until(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited too long until %s\n%s", what, w.log)
		}
	}
}

// job returns a job for the test's repository.
func (w *env) job(j queue.Job) queue.Job {
	j.Installation, j.Repository, j.Owner, j.Repo = w.installation, w.shop.ID(), "octo", "shop"
	j.Kind = cmp.Or(j.Kind, queue.KindPull)
	return j
}

// enqueue enqueues a job for the test's repository.
func (w *env) enqueue(j queue.Job) queue.Job {
	w.t.Helper()
	j, _, err := w.queue.Enqueue(w.t.Context(), w.job(j))
	w.must(err)
	return j
}

// pull enqueues pull request 1, like an event.
func (w *env) pull() queue.Job {
	w.t.Helper()
	return w.enqueue(queue.Job{Pull: 1, Head: w.shop.Pull(1).HeadSHA, Reason: "test"})
}

// record returns a job's scan record.
func (w *env) record(id string) queue.Scan {
	w.t.Helper()
	s, err := w.queue.Scan(w.t.Context(), id)
	w.must(err)
	return s
}

// state returns a record's state and conclusion.
func (w *env) state(id string) string {
	w.t.Helper()
	s := w.record(id)
	return string(s.State) + " " + s.Conclusion
}

// want compares a named value.
func (w *env) want(what string, got, want any) {
	w.t.Helper()
	if g, x := fmt.Sprint(got), fmt.Sprint(want); g != x {
		w.t.Errorf("%s: %s, want %s", what, g, x)
	}
}

// checks returns the check runs of a commit, as "status conclusion: title".
func (w *env) checks(sha string) []string {
	out := []string{}
	for _, r := range w.hub.CheckRuns() {
		if r.HeadSHA == sha {
			out = append(out, strings.TrimSpace(r.Status+" "+r.Conclusion)+": "+r.Title)
		}
	}
	return out
}

// comments returns the first words of the comments on a pull request.
func (w *env) comments(pull int) []string {
	out := []string{}
	for _, c := range w.hub.Comments() {
		if c.Pull == pull {
			_, text, _ := strings.Cut(c.Body, "\n")
			first, _, _ := strings.Cut(text, "\n")
			out = append(out, c.Author+": "+first)
		}
	}
	return out
}
