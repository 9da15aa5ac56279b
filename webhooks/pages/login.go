package pages

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/webhooks/app"
)

// loginNeeded returns the error for visitors who have not logged in. Its page links back here.
func loginNeeded(r *http.Request) error {
	back := "/"
	if r.Method == http.MethodGet {
		back = safeReturn(r.URL.RequestURI())
	}
	return &problem{
		Status: http.StatusUnauthorized, Title: "Log in to see this",
		Text:  "Scans are shown to those who may read their repository on GitHub.",
		Login: "/login?return=" + url.QueryEscape(back),
	}
}

// login redirects the viewer to GitHub. The callback must match the cookie: the state protects
// against forged callbacks, the verifier (PKCE) against stolen codes.
func (p *Pages) login(w http.ResponseWriter, r *http.Request) error {
	now := p.config.Now()
	next := pending{nonce(), oauth2.GenerateVerifier(), safeReturn(r.URL.Query().Get("return")), now.Add(loginAge)}
	if err := p.setCookie(w, loginCookie, next, next.Expires); err != nil {
		return fmt.Errorf("begin a login: %w", err)
	}
	to := p.oauth().AuthCodeURL(next.State, oauth2.S256ChallengeOption(next.Verifier))
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// loggedIn handles the callback from GitHub after a login.
func (p *Pages) loggedIn(w http.ResponseWriter, r *http.Request) error {
	var begun pending
	err := p.openCookie(r, loginCookie, &begun)
	p.dropCookie(w, loginCookie)
	query := r.URL.Query()
	switch {
	case err != nil || !p.config.Now().Before(begun.Expires):
		return loginFailed("The login took too long, or began in another browser.", "/")
	case subtle.ConstantTimeCompare([]byte(begun.State), []byte(query.Get("state"))) != 1:
		return loginFailed("The answer is not to the login that began here.", begun.Return)
	case query.Get("error") != "":
		return loginFailed("GitHub did not log you in: "+escape.Line(query.Get("error"))+".", begun.Return)
	}
	s, err := p.newSession(r.Context(), query.Get("code"), begun.Verifier)
	if err != nil {
		p.config.Log.WarnContext(r.Context(), "a login failed", "error", err)
		return loginFailed("GitHub could not be reached to identify you.", begun.Return)
	}
	if err := p.setCookie(w, sessionCookie, s, s.Expires); err != nil {
		return fmt.Errorf("end a login: %w", err)
	}
	http.Redirect(w, r, safeReturn(begun.Return), http.StatusSeeOther)
	return nil
}

func loginFailed(text, back string) error {
	return &problem{Status: http.StatusBadRequest, Title: "You are not logged in", Text: text,
		Login: "/login?return=" + url.QueryEscape(safeReturn(back))}
}

// newSession exchanges a code for a token, and asks GitHub for its owner.
func (p *Pages) newSession(ctx context.Context, code, verifier string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, githubTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: p.config.Transport, Timeout: githubTimeout})
	token, err := p.oauth().Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, exchangeError(err)
	}
	login, err := p.owner(ctx, token.AccessToken)
	if err != nil {
		return nil, err
	}
	expires := p.config.Now().Add(sessionAge)
	if !token.Expiry.IsZero() && token.Expiry.Before(expires) {
		expires = token.Expiry
	}
	return &session{login, token.AccessToken, expires}, nil
}

// owner returns the login of a token's owner.
func (p *Pages) owner(ctx context.Context, token string) (login string, err error) {
	client, err := p.client(token)
	if err != nil {
		return "", err
	}
	user, _, err := client.Users.Get(ctx, "")
	if err != nil {
		return "", fmt.Errorf("ask GitHub who logged in: %w", err)
	}
	if user.GetLogin() == "" {
		return "", errors.New("ask GitHub who logged in: it named nobody")
	}
	return user.GetLogin(), nil
}

// exchangeError returns an error without the body of the response, which may contain a token.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("trade the code of a login for a token: %w", err)
	}
	status := 0
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	return fmt.Errorf("trade the code of a login for a token: GitHub answered %d %q: check %s and %s", status, refused.ErrorCode, app.KeyClientID, app.KeyClientSecret)
}

func (p *Pages) oauth() *oauth2.Config {
	credentials := p.config.App.Credentials()
	web := p.config.App.WebURL()
	return &oauth2.Config{
		ClientID: credentials.ClientID, ClientSecret: credentials.ClientSecret, RedirectURL: p.absolute("/login/callback"),
		Endpoint: oauth2.Endpoint{
			AuthURL: web + "/login/oauth/authorize", TokenURL: web + "/login/oauth/access_token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// safeReturn returns a path of this service, with its query; "/" for anything that could
// redirect elsewhere.
func safeReturn(text string) string {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || len(text) > 2000 ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r >= 0x7f }) {
		return "/"
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "//") {
		return "/"
	}
	if u.Path == "/logout" || u.Path == "/login" || strings.HasPrefix(u.Path, "/login/") {
		return "/"
	}
	return u.RequestURI()
}
