package pages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// right is what a viewer may do with a repository.
type right int

const (
	mayNothing right = iota
	mayRead
	mayWrite
)

const (
	// rightAge is how long a right is cached.
	rightAge = time.Minute
	// mostRights limits the cached rights.
	mostRights = 10_000
	// githubTimeout is the timeout of requests to GitHub.
	githubTimeout = 10 * time.Second
)

// rights caches what viewers may do with repositories, as GitHub returned it.
type rights struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[rightKey]knownRight
}

type rightKey struct {
	token      [sha256.Size]byte
	repository int64
}

type knownRight struct {
	right right
	until time.Time
}

func newRights(now func() time.Time) *rights {
	return &rights{now: now, known: map[rightKey]knownRight{}}
}

func (k *rights) get(key rightKey) (right, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.known[key]
	return known.right, ok && k.now().Before(known.until)
}

// last returns the last known right, even if it has expired.
func (k *rights) last(key rightKey) right {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[key].right
}

func (k *rights) put(key rightKey, r right) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= mostRights {
		clear(k.known)
	}
	k.known[key] = knownRight{r, k.now().Add(rightAge)}
}

func keyOf(v *viewer, repository int64) rightKey {
	return rightKey{sha256.Sum256([]byte(v.token)), repository}
}

// seesAll reports whether all viewers see all repositories.
func (p *Pages) seesAll() bool { return p.config.Access != AccessGitHub }

// right returns what a viewer may do with the repository of a scan.
func (p *Pages) right(ctx context.Context, v *viewer, s queue.Scan) (right, error) {
	if p.seesAll() {
		return mayWrite, nil
	}
	key := keyOf(v, s.Repository)
	if r, ok := p.rights.get(key); ok {
		return r, nil
	}
	r, err := p.requestRight(ctx, v, s)
	if err == nil {
		p.rights.put(key, r)
	}
	return r, err
}

// checkToken returns nil if GitHub still accepts the viewer's token, for the viewer's login. It is
// for rights that follow from the login, not from a repository.
func (p *Pages) checkToken(ctx context.Context, v *viewer) error {
	if p.seesAll() {
		return nil
	}
	key := keyOf(v, 0)
	if _, ok := p.rights.get(key); ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, githubTimeout)
	defer cancel()
	login, err := p.owner(ctx, v.token)
	if err != nil {
		return cmp.Or(readRefusal(err), errLogin)
	}
	if !strings.EqualFold(login, v.Login) {
		return errLogin
	}
	p.rights.put(key, mayRead)
	return nil
}

// requestRight requests the right from GitHub with the viewer's token. Another repository that has
// the name now grants no right.
func (p *Pages) requestRight(ctx context.Context, v *viewer, s queue.Scan) (right, error) {
	if !repositoryName(s.Owner) || !repositoryName(s.Repo) {
		return mayNothing, nil
	}
	ctx, cancel := context.WithTimeout(ctx, githubTimeout)
	defer cancel()
	client, err := p.client(v.token)
	if err != nil {
		return mayNothing, err
	}
	found, _, err := client.Repositories.Get(ctx, s.Owner, s.Repo)
	if err != nil {
		return mayNothing, readRefusal(err)
	}
	switch permissions := found.GetPermissions(); {
	case found.GetID() != s.Repository:
		return mayNothing, nil
	case permissions["push"] || permissions["maintain"] || permissions["admin"]:
		return mayWrite, nil
	}
	return mayRead, nil
}

var (
	// errLogin means that GitHub no longer accepts the viewer's token.
	errLogin = errors.New("GitHub does not take the viewer's token")
	// errGitHub means that GitHub did not answer.
	errGitHub = errors.New("the access of a viewer could not be checked with GitHub")
)

// readRefusal returns nil if GitHub answered that the viewer may not read, and an error if it gave
// no such answer.
func readRefusal(err error) error {
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil { // rate limits are errors of their own
		return fmt.Errorf("%w: %w", errGitHub, err)
	}
	switch answer.Response.StatusCode {
	case http.StatusUnauthorized:
		return errLogin
	case http.StatusForbidden, http.StatusNotFound, http.StatusUnavailableForLegalReasons:
		return nil
	}
	return fmt.Errorf("%w: %w", errGitHub, err)
}

// client returns a client of GitHub's API with a token.
func (p *Pages) client(token string) (*github.Client, error) {
	client, err := p.githubClient(p.config.Transport)
	if err != nil {
		return nil, err
	}
	return client.WithAuthToken(token), nil
}

// githubClient returns a client of GitHub's API. The transport by may add a secret, so redirects
// to other hosts are not followed.
func (p *Pages) githubClient(by http.RoundTripper) (*github.Client, error) {
	base, err := url.Parse(p.config.App.BaseURL())
	if err != nil {
		return nil, fmt.Errorf("read the URL of GitHub's API: %w", err)
	}
	client := github.NewClient(&http.Client{Transport: by, Timeout: githubTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Host != base.Host || r.URL.Scheme != base.Scheme || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}})
	client.BaseURL = base
	return client, nil
}

// plainName matches names of owners and repositories.
var plainName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// repositoryName reports whether text is safe as part of a path of GitHub's API.
func repositoryName(text string) bool {
	return plainName.MatchString(text) && text != "." && text != ".."
}
