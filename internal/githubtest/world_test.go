package githubtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v62/github"
)

// world has a server with the App preadmit installed on octo, and a repository of octo.
type world struct {
	*Server
	t         *testing.T
	app       *App
	repo      *Repository
	installed *Installation
	hook      *receiver
}

// receiver is a service that receives webhooks.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []received
}

type received struct {
	event, guid, signature, target string
	payload                        []byte
}

func newReceiver(t *testing.T) *receiver {
	h := &receiver{status: 202}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, received{
			r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-Hub-Signature-256"),
			r.Header.Get("X-GitHub-Hook-Installation-Target-ID"), body,
		})
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	return h
}

// take returns the events since its last call, as "event" or "event.action".
func (h *receiver) take(t *testing.T) (names []string, events []any) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, got := range h.got {
		event, err := github.ParseWebHook(got.event, got.payload)
		if err != nil {
			t.Fatalf("%s: %v", got.event, err)
		}
		name := got.event
		if a, ok := event.(interface{ GetAction() string }); ok && a.GetAction() != "" {
			name += "." + a.GetAction()
		}
		names, events = append(names, name), append(events, event)
	}
	h.got = nil
	return names, events
}

func newWorld(t *testing.T, config Config) *world {
	t.Helper()
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Server: s, t: t, hook: newReceiver(t)}
	t.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			t.Errorf("GitHub's description or limits: %s", p)
		}
	})
	w.repo = w.addRepository("octo", "shop")
	w.app = must(s.AddApp(AppOptions{WebhookURL: w.hook.URL}))(t)
	w.installed = must(w.app.Install("octo"))(t)
	w.hook.take(t)
	return w
}

func (w *world) addRepository(owner, name string) *Repository {
	w.t.Helper()
	o := RepositoryOptions{Owner: owner, Name: name, Private: true, Files: Files{"app/a.yaml": "a: 1\n", "README.md": "x\n"}}
	return must(w.AddRepository(o))(w.t)
}

// must returns a function that returns a result, or fails the test for its error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) client(token string) *github.Client {
	c := github.NewClient(&http.Client{Transport: bearer(token)})
	c.BaseURL = must(c.BaseURL.Parse(w.URL))(w.t)
	return c
}

// assertion returns an assertion of the App, with changed claims.
func (w *world) assertion(change func(*jwt.RegisteredClaims)) string {
	now := time.Now()
	said := &jwt.RegisteredClaims{
		Issuer: strconv.FormatInt(w.app.ID, 10), IssuedAt: jwt.NewNumericDate(now.Add(-time.Minute)), ExpiresAt: jwt.NewNumericDate(now.Add(5 * time.Minute)),
	}
	if change != nil {
		change(said)
	}
	return must(jwt.NewWithClaims(jwt.SigningMethodRS256, said).SignedString(w.app.key))(w.t)
}

// token returns a restricted token of the installation.
func (w *world) token(o *github.InstallationTokenOptions) string {
	w.t.Helper()
	if o == nil {
		o = &github.InstallationTokenOptions{}
	}
	got, _, err := w.client(w.assertion(nil)).Apps.CreateInstallationToken(context.Background(), w.installed.in.id, o)
	check(w.t, err)
	return got.GetToken()
}

// status returns the status of an error of go-github, 200 for nil.
func status(err error) int {
	refused, ok := err.(*github.ErrorResponse)
	switch {
	case err == nil:
		return 200
	case ok:
		return refused.Response.StatusCode
	}
	panic(fmt.Sprintf("%T %v", err, err))
}
