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
	// believed is how long an answer of GitHub's about a right is used again.
	believed = time.Minute
	// mostRights bounds how many are kept.
	mostRights = 10_000
	// asking bounds how long GitHub may take to answer.
	asking = 10 * time.Second
)

// rights keeps what GitHub said of viewers and repositories for a moment.
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

// last is what GitHub said last, however long ago.
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
	k.known[key] = knownRight{r, k.now().Add(believed)}
}

func keyOf(v *viewer, repository int64) rightKey {
	return rightKey{sha256.Sum256([]byte(v.token)), repository}
}

// seesAll reports whether a viewer sees every repository.
func (p *Pages) seesAll() bool { return p.config.Access != AccessGitHub }

// right asks what a viewer may do with the repository of a scan.
func (p *Pages) right(ctx context.Context, v *viewer, s queue.Scan) (right, error) {
	if p.seesAll() {
		return mayWrite, nil
	}
	key := keyOf(v, s.Repository)
	if r, ok := p.rights.get(key); ok {
		return r, nil
	}
	r, err := p.askRight(ctx, v, s)
	if err == nil {
		p.rights.put(key, r)
	}
	return r, err
}

// stillThere is nil as long as GitHub takes the viewer's token, and as theirs: for what
// follows from who they are, and from no repository.
func (p *Pages) stillThere(ctx context.Context, v *viewer) error {
	if p.seesAll() {
		return nil
	}
	key := keyOf(v, 0)
	if _, ok := p.rights.get(key); ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
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

// askRight asks GitHub with the viewer's token. A repository of the same name that is
// another one grants no right.
func (p *Pages) askRight(ctx context.Context, v *viewer, s queue.Scan) (right, error) {
	if !repositoryName(s.Owner) || !repositoryName(s.Repo) {
		return mayNothing, nil
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
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
	// errLogin says that GitHub no longer takes the viewer's token.
	errLogin = errors.New("GitHub does not take the viewer's token")
	// errGitHub says that GitHub could not be asked.
	errGitHub = errors.New("GitHub could not be asked what a viewer may read")
)

// readRefusal returns nil where GitHub said that the viewer may not read, and an error
// where it said nothing about that.
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

// client asks GitHub's API as the owner of a token.
func (p *Pages) client(token string) (*github.Client, error) {
	client, err := p.githubClient(p.config.Transport)
	if err != nil {
		return nil, err
	}
	return client.WithAuthToken(token), nil
}

// githubClient asks GitHub's API by way of a transport, which may carry a secret: it is
// led to no other host.
func (p *Pages) githubClient(by http.RoundTripper) (*github.Client, error) {
	base, err := url.Parse(p.config.App.BaseURL())
	if err != nil {
		return nil, fmt.Errorf("read the URL of GitHub's API: %w", err)
	}
	client := github.NewClient(&http.Client{Transport: by, Timeout: asking, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Host != base.Host || r.URL.Scheme != base.Scheme || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}})
	client.BaseURL = base
	return client, nil
}

// plainName is what names of owners and repositories are made of.
var plainName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// repositoryName reports whether text may be part of a path of GitHub's API.
func repositoryName(text string) bool {
	return plainName.MatchString(text) && text != "." && text != ".."
}
