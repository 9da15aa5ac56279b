package reconcile_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/intake"
	"github.com/preadmit/preadmit/webhooks/queue"
	"github.com/preadmit/preadmit/webhooks/reconcile"
)

// env has a GitHub with an App, whose webhooks go to an intake with a real queue.
type env struct {
	*testing.T
	clock  *clock
	github *githubtest.Server
	them   *githubtest.App // GitHub's side of the App
	us     *app.App
	queue  *queue.Queue
	url    string // for webhooks
	*reconcile.Reconciler

	mu sync.Mutex
	// down is the status for deliveries, 0 when they are accepted; with deaf they are stored
	// nevertheless.
	down int
	deaf bool
}

func newEnv(t *testing.T) *env {
	t.Helper()
	w := &env{T: t, clock: &clock{}}
	var err error
	w.queue, err = queue.Open(t.Context(), queue.Config{Dir: t.TempDir()})
	w.must(err)
	t.Cleanup(func() { w.must(w.queue.Close(context.WithoutCancel(t.Context()))) })
	w.github, err = githubtest.New(githubtest.Config{})
	w.must(err)
	t.Cleanup(func() {
		w.github.Close()
		if problems := w.github.Problems(); len(problems) > 0 {
			t.Errorf("GitHub would not take: %v", problems)
		}
	})
	door := httptest.NewServer(w.door())
	t.Cleanup(door.Close)
	w.url = door.URL
	w.them, err = w.github.AddApp(githubtest.AppOptions{WebhookURL: door.URL})
	w.must(err)
	w.us, err = app.New(app.Config{
		BaseURL: w.github.URL, WebURL: w.github.WebURL, Clock: hasty{},
		Credentials: app.Credentials{ID: w.them.ID, PrivateKey: w.them.PrivateKey, WebhookSecret: w.them.WebhookSecret()},
	})
	w.must(err)
	w.Reconciler = w.reconciler()
	return w
}

// reconciler returns another reconciler, like that of another replica or the next process.
func (w *env) reconciler() *reconcile.Reconciler {
	log := slog.New(slog.NewTextHandler(w.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	return reconcile.New(reconcile.Config{Queue: w.queue, App: w.us, Now: w.clock.Now, Log: log})
}

// door returns the handler of deliveries, which can be down.
func (w *env) door() http.Handler {
	take := intake.New(intake.Config{
		Queue: w.queue, Secrets: func() [][]byte { return w.us.WebhookSecrets() }, AppID: func() int64 { return w.us.ID() },
	})
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		down, deaf := w.down, w.deaf
		w.mu.Unlock()
		switch {
		case down == 0:
			take.ServeHTTP(rw, r)
			return
		case deaf:
			take.ServeHTTP(&unheard{rw}, r)
		}
		rw.WriteHeader(down)
	})
}

// unheard discards a response.
type unheard struct{ http.ResponseWriter }

func (unheard) Header() http.Header            { return http.Header{} }
func (unheard) WriteHeader(int)                {}
func (unheard) Write(p []byte) (int, error)    { return len(p), nil }
func (u *unheard) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (w *env) answer(down int, deaf bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down, w.deaf = down, deaf
}

func (w *env) must(err error) {
	w.Helper()
	fatal(w.T, err)
}

// sure returns a value, and fails the test for an error.
func sure[T any](w *env) func(T, error) T {
	return func(v T, err error) T {
		w.Helper()
		w.must(err)
		return v
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repository is a repository with a branch for pull requests.
type repository struct {
	*githubtest.Repository
	w *env
}

func (w *env) repository(owner, name string) *repository {
	w.Helper()
	r := sure[*githubtest.Repository](w)(w.github.AddRepository(githubtest.RepositoryOptions{Owner: owner, Name: name, Files: githubtest.Files{"a.yaml": "a: 1\n"}}))
	return &repository{r, w}
}

// open opens a pull request.
func (r *repository) open(branch string, draft bool) int {
	r.w.Helper()
	sure[string](r.w)(r.Push(branch, githubtest.Files{branch + ".yaml": "b: 1\n"}))
	return sure[int](r.w)(r.OpenPull(githubtest.PullOptions{Head: branch, Draft: draft}))
}

// check creates a check run of ours on the head of a pull request: in progress, or completed if
// there is a conclusion.
func (r *repository) check(installation int64, pull int, conclusion github.Conclusion) {
	r.w.Helper()
	to := sure[*github.Publisher](r.w)(github.New(
		github.Target{Owner: r.Owner(), Repo: r.Name(), HeadSHA: r.Pull(pull).HeadSHA, Pull: pull},
		github.Options{Client: r.w.us.Repository(installation, r.ID()).HTTP(), BaseURL: r.w.us.BaseURL(), Clock: hasty{}}))
	r.w.must(to.Start(r.w.Context()))
	if conclusion != "" {
		sure[github.Published](r.w)(to.Complete(r.w.Context(), github.Check{Conclusion: conclusion, Title: "t", Summary: "s"}))
	}
}

// install installs the App, and returns the installation and its id.
func (w *env) install(owner string, repositories ...*repository) (*githubtest.Installation, int64) {
	w.Helper()
	var all []*githubtest.Repository
	for _, r := range repositories {
		all = append(all, r.Repository)
	}
	in := sure[*githubtest.Installation](w)(w.them.Install(owner, all...))
	id, _, err := w.us.InstallationOf(w.Context(), owner, repositories[0].Name())
	w.must(err)
	return in, id
}

// lost runs do while deliveries are lost.
func (w *env) lost(do func()) {
	w.Helper()
	w.them.SetWebhook("", w.them.WebhookSecret())
	defer w.them.SetWebhook(w.url, w.them.WebhookSecret())
	do()
}

// again returns the events that were redelivered.
func (w *env) again() []string {
	w.github.Settle()
	var out []string
	for _, d := range w.them.Deliveries() {
		if d.Redelivery {
			out = append(out, d.Event)
		}
	}
	return out
}

// requested counts requests to GitHub with a suffix of the path since Forget.
func (w *env) requested(method, path string) int {
	n := 0
	for _, r := range w.github.Requests() {
		if r.Method == method && strings.HasSuffix(r.Path, path) {
			n++
		}
	}
	return n
}

// pending returns the queued scans, as "reason name#number", sorted.
func (w *env) pending() []string {
	var out []string
	for _, s := range w.queue.Scans(queue.ScanFilter{States: []queue.State{queue.Queued}}) {
		out = append(out, s.Reason+" "+s.Repo+"#"+string(rune('0'+s.Pull)))
	}
	slices.Sort(out)
	return out
}

// claim claims the next job.
func (w *env) claim() *queue.Claim {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	w.Cleanup(cancel)
	return sure[*queue.Claim](w)(w.queue.Next(ctx))
}

// clock is the clock of the reconciliation: the machine's, plus what a test sets.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) set(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

// hasty is the machine's clock, without waits between retries.
type hasty struct{}

func (hasty) Now() time.Time                                   { return time.Now() }
func (hasty) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
