package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github/retry"
)

const (
	// manyAccesses bounds what is kept for repositories that are not at work.
	manyAccesses = 2000
	// fullAgain is how long an installation that lacks a permission is not asked for it.
	fullAgain = time.Hour
)

// accessKey names what a token is for; repository 0 is the whole installation.
type accessKey struct{ installation, repository int64 }

// Access is what an installation lets the App do in one repository. Its token is made
// when it is needed, kept until a minute before its end, and shared by all who have the
// same access. It is for any number of goroutines.
type Access struct {
	app    *App
	key    accessKey
	wants  []permission
	client *github.Client

	mu      sync.Mutex
	tokens  *ghinstallation.Transport // nil: none was asked for yet
	has     []permission              // of the token, when some are missing
	missing []string
	lacking time.Time // when missing was found

	used atomic.Int64 // last, in Unix seconds
}

// Repository is the access to one repository of an installation, by GitHub's IDs. Its
// token can do nothing anywhere else.
func (a *App) Repository(installation, repository int64) *Access {
	return a.reach(accessKey{installation, repository}, scanning())
}

// Installation is a client that may read all repositories of an installation: their
// pull requests and check runs. Permissions that it lacked are requested again.
func (a *App) Installation(ctx context.Context, installation int64) (*github.Client, error) {
	s := a.reach(accessKey{installation: installation}, looking())
	s.AskAgain(ctx)
	if _, err := s.Token(ctx); err != nil {
		return nil, err
	}
	return s.client, nil
}

// reach returns the shared access of a key.
func (a *App) reach(key accessKey, wants []permission) *Access {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.access[key]
	if s == nil {
		a.makeRoom()
		s = &Access{app: a, key: key, wants: wants}
		s.client = a.client(s.HTTP().Transport)
		a.access[key] = s
	}
	s.used.Store(a.clock.Now().Unix())
	return s
}

// makeRoom drops the half that was not used for longest, when there are many. Its
// users go on using it.
func (a *App) makeRoom() {
	if len(a.access) < manyAccesses {
		return
	}
	keys := slices.SortedFunc(maps.Keys(a.access), func(x, y accessKey) int {
		return cmp.Compare(a.access[x].used.Load(), a.access[y].used.Load())
	})
	for _, key := range keys[:len(keys)/2] {
		delete(a.access, key)
	}
}

// Forget drops the tokens of an installation: it is gone, or has other permissions or
// repositories now.
func (a *App) Forget(installation int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.access {
		if key.installation == installation {
			delete(a.access, key)
		}
	}
	a.metrics.Forget(installation)
}

// client is go-github's, which waits for rate limits and asks again after failures.
func (a *App) client(t http.RoundTripper) *github.Client {
	c := github.NewClient(&http.Client{Transport: retry.New(t, retry.Options{Clock: a.clock})})
	c.BaseURL, c.UserAgent = a.base, "preadmit"
	return c
}

// Client waits for rate limits and asks again after failures.
func (s *Access) Client() *github.Client { return s.client }

// HTTP is a client for callers that wait and retry by themselves, as a publisher does. It reports
// the token to GitHub's API alone.
func (s *Access) HTTP() *http.Client { return &http.Client{Transport: roundTrip(s.roundTrip)} }

// roundTrip asks with the token. One that GitHub does not take (any more) is dropped, and
// a new one is tried once.
func (s *Access) roundTrip(req *http.Request) (*http.Response, error) {
	if !s.app.isAPI(req.URL) {
		return s.app.meter(s.key.installation).RoundTrip(req)
	}
	tokens, err := s.ready(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := tokens.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	again, ok := replay(req)
	if !ok {
		return resp, nil
	}
	_ = resp.Body.Close() // refused, and asked again
	s.drop(tokens)
	if tokens, err = s.ready(req.Context()); err != nil {
		return nil, err
	}
	return tokens.RoundTrip(again)
}

// Token is an installation token that is valid for a minute at least. ErrGone,
// ErrSuspended and ErrCredentials say why there is none.
func (s *Access) Token(ctx context.Context) (string, error) {
	tokens, err := s.ready(ctx)
	if err != nil {
		return "", err
	}
	return tokens.Token(ctx) // which it has
}

// Missing are the permissions that the installation has not granted, like
// "security_events: write". They are known after the first Token or request.
func (s *Access) Missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missing)
}

// Grants reports whether the installation grants a permission that a scan needs, like
// "checks: write". Its errors are those of Token.
func (s *Access) Grants(ctx context.Context, permission string) (bool, error) {
	_, err := s.ready(ctx)
	return err == nil && !slices.Contains(s.Missing(), permission), err
}

// ready returns a transport that has a token.
func (s *Access) ready(ctx context.Context) (*ghinstallation.Transport, error) {
	tokens := s.present()
	_, err := tokens.Token(ctx)
	if r, ok := refused(err); err != nil && ok && r.status == http.StatusUnprocessableEntity && strings.Contains(r.message, "permission") {
		return s.narrow(ctx, tokens, err)
	}
	if err != nil {
		return nil, s.explain(err)
	}
	return tokens, nil
}

func (s *Access) explain(err error) error {
	what := fmt.Sprintf("get a token of installation %d", s.key.installation)
	if s.key.repository != 0 {
		what += fmt.Sprintf(" for repository %d", s.key.repository)
	}
	return s.app.explain(what, err)
}

// present is the transport in use, or a new one that asks for everything.
func (s *Access) present() *ghinstallation.Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missing) > 0 && s.app.clock.Now().Sub(s.lacking) > fullAgain {
		s.tokens = nil
	}
	if s.tokens == nil {
		s.tokens, s.missing = s.transport(s.wants, tokenGranted), nil
	}
	return s.tokens
}

// drop forgets a transport's token, if it is still the one in use.
func (s *Access) drop(tokens *ghinstallation.Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == tokens {
		s.tokens = nil
	}
}

// transport makes tokens with some permissions, which are counted as granted or narrowed.
func (s *Access) transport(wants []permission, counts string) *ghinstallation.Transport {
	next := &tokenMeter{app: s.app, counts: counts, next: s.app.clocked(s.key.installation)}
	t := ghinstallation.NewFromAppsTransport(s.app.assertions(next), s.key.installation)
	t.InstallationTokenOptions = &github.InstallationTokenOptions{Permissions: wire(wants)}
	if s.key.repository != 0 {
		t.InstallationTokenOptions.RepositoryIDs = []int64{s.key.repository}
	}
	return t
}
