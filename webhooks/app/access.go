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
	// manyAccesses limits the cached accesses.
	manyAccesses = 2000
	// fullAgain is how long after a missing permission all permissions are requested again.
	fullAgain = time.Hour
)

// accessKey identifies what a token is for; repository 0 means the whole installation.
type accessKey struct{ installation, repository int64 }

// Access gives the App access to one repository of an installation. Its token is requested
// when it is needed, cached until a minute before it expires, and shared by all users of the
// access. It is safe for concurrent use.
type Access struct {
	app    *App
	key    accessKey
	wants  []permission
	client *github.Client

	mu      sync.Mutex
	tokens  *ghinstallation.Transport // nil: none was requested yet
	has     []permission              // of the token, when some are missing
	missing []string
	lacking time.Time // when missing was found

	used atomic.Int64 // last, in Unix seconds
}

// Repository returns the access to one repository of an installation, by GitHub's IDs. Its
// token gives no access to anything else.
func (a *App) Repository(installation, repository int64) *Access {
	return a.reach(accessKey{installation, repository}, scanning())
}

// Installation returns a client that may read the pull requests and check runs of all
// repositories of an installation. Permissions that were missing are requested again.
func (a *App) Installation(ctx context.Context, installation int64) (*github.Client, error) {
	s := a.reach(accessKey{installation: installation}, looking())
	s.Recheck(ctx)
	if _, err := s.Token(ctx); err != nil {
		return nil, err
	}
	return s.client, nil
}

// reach returns the shared access of a key, and creates it if needed.
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

// makeRoom removes the least recently used half of the accesses when there are many. Their
// users can continue to use them.
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

// Forget removes the tokens of an installation that is gone, or whose permissions or
// repositories changed.
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

// client returns a go-github client that waits for rate limits and retries after failures.
func (a *App) client(t http.RoundTripper) *github.Client {
	c := github.NewClient(&http.Client{Transport: retry.New(t, retry.Options{Clock: a.clock})})
	c.BaseURL, c.UserAgent = a.base, "preadmit"
	return c
}

// Client returns a client that waits for rate limits and retries after failures.
func (s *Access) Client() *github.Client { return s.client }

// HTTP returns a client for callers that wait and retry by themselves, as a publisher does. It
// sends the token to GitHub's API only.
func (s *Access) HTTP() *http.Client { return &http.Client{Transport: roundTrip(s.roundTrip)} }

// roundTrip sends a request with the token. If GitHub rejects the token, it is dropped, and the
// request is sent once more with a new one.
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
	_ = resp.Body.Close() // rejected, and sent again
	s.drop(tokens)
	if tokens, err = s.ready(req.Context()); err != nil {
		return nil, err
	}
	return tokens.RoundTrip(again)
}

// Token returns an installation token that is valid for at least a minute. ErrGone, ErrSuspended
// and ErrCredentials are the reasons for none.
func (s *Access) Token(ctx context.Context) (string, error) {
	tokens, err := s.ready(ctx)
	if err != nil {
		return "", err
	}
	return tokens.Token(ctx) // returns the cached one
}

// Missing returns the permissions that the installation has not granted, like
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

// ready returns a transport that has a valid token.
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

// present returns the current transport, or a new one that requests all permissions.
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

// drop removes a transport and its token, if it is still the current one.
func (s *Access) drop(tokens *ghinstallation.Transport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == tokens {
		s.tokens = nil
	}
}

// transport returns a transport that requests tokens with some permissions. counts is how the
// metrics count them.
func (s *Access) transport(wants []permission, counts string) *ghinstallation.Transport {
	next := &tokenMeter{app: s.app, counts: counts, next: s.app.clocked(s.key.installation)}
	t := ghinstallation.NewFromAppsTransport(s.app.assertions(next), s.key.installation)
	t.InstallationTokenOptions = &github.InstallationTokenOptions{Permissions: wire(wants)}
	if s.key.repository != 0 {
		t.InstallationTokenOptions.RepositoryIDs = []int64{s.key.repository}
	}
	return t
}
