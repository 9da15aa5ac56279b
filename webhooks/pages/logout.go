package pages

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"
)

// ended holds the tokens of sessions that were logged out here: their hashes, and when the session
// would have ended. A request to GitHub revokes the token as well, which has effect everywhere; this
// has effect at once, and if GitHub does not respond.
type ended struct {
	now func() time.Time

	mu     sync.Mutex
	tokens map[[sha256.Size]byte]time.Time
}

func newEnded(now func() time.Time) *ended {
	return &ended{now: now, tokens: map[[sha256.Size]byte]time.Time{}}
}

func (e *ended) add(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for token, until := range e.tokens {
		if !e.now().Before(until) {
			delete(e.tokens, token)
		}
	}
	e.tokens[sha256.Sum256([]byte(s.Token))] = s.Expires
}

func (e *ended) has(token string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, is := e.tokens[sha256.Sum256([]byte(token))]
	return is
}

// logout ends the session: it removes the cookie in this browser, and a copy of the cookie becomes
// useless, since GitHub revokes the token in it.
func (p *Pages) logout(w http.ResponseWriter, r *http.Request) error {
	p.dropCookie(w, sessionCookie)
	out := &problem{Status: http.StatusOK, Title: "You are logged out", Text: "This browser no longer knows who you are.", Login: "/login"}
	var s session
	if err := p.openCookie(r, sessionCookie, &s); err != nil || s.Token == "" {
		return out
	}
	p.ended.add(&s)
	if err := p.endToken(r.Context(), s.Token); err != nil {
		p.config.Log.WarnContext(r.Context(), "GitHub did not end the token of a session that was logged out", "error", err)
		out.Hint = "The login at GitHub could not be ended. If somebody may have a copy of your cookies, revoke this App under Settings, Applications, Authorized GitHub Apps."
	}
	return out
}

// endToken revokes a viewer's token. A token that GitHub does not know counts as revoked.
func (p *Pages) endToken(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), githubTimeout)
	defer cancel()
	credentials := p.config.App.Credentials()
	client, err := p.githubClient(&github.BasicAuthTransport{
		Username: credentials.ClientID, Password: credentials.ClientSecret, Transport: p.config.Transport,
	})
	if err != nil {
		return err
	}
	_, err = client.Authorizations.Revoke(ctx, credentials.ClientID, token)
	var answer *github.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		switch answer.Response.StatusCode {
		case http.StatusNotFound, http.StatusUnprocessableEntity:
			return nil
		}
		return fmt.Errorf("end a token: GitHub answered %d", answer.Response.StatusCode)
	}
	if err != nil {
		return fmt.Errorf("end a token: %w", err)
	}
	return nil
}
