package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
)

const (
	// backdated is how far in the past the issue time of an assertion is, since GitHub's clock
	// may be behind. GitHub recommends 60 seconds.
	backdated = time.Minute
	// assertionAge is how long an assertion is valid. GitHub accepts ten minutes at most, by
	// its own clock.
	assertionAge = 5 * time.Minute
	// skewed is the difference of the clocks from which a request is repeated with GitHub's time.
	skewed = 30 * time.Second
)

// Sign returns an assertion that authenticates the App, by GitHub's clock as far as it is known,
// with the current key. It implements ghinstallation's Signer; the passed claims are ignored, since
// they use this machine's clock and the App ID of the transport's creation.
func (a *App) Sign(jwt.Claims) (string, error) {
	a.mu.Lock()
	id, key, now := a.creds.ID, a.key, a.clock.Now().Add(a.skew).Truncate(time.Second)
	a.mu.Unlock()
	return jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    strconv.FormatInt(id, 10),
		IssuedAt:  jwt.NewNumericDate(now.Add(-backdated)),
		ExpiresAt: jwt.NewNumericDate(now.Add(assertionAge)),
	}).SignedString(key)
}

// assertions returns a transport that authenticates as the App, on top of next. Each user needs
// its own, since ghinstallation writes to it.
func (a *App) assertions(next http.RoundTripper) *ghinstallation.AppsTransport {
	t, err := ghinstallation.NewAppsTransportWithOptions(next, a.ID(), ghinstallation.WithSigner(a))
	if err != nil {
		panic(err) // the only possible error is a missing signer
	}
	t.BaseURL = a.base.String()
	return t
}

// asApp returns a transport that authenticates as the App, and rejects requests to other hosts.
func (a *App) asApp() http.RoundTripper {
	t := a.assertions(a.clocked(0))
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if !a.isAPI(req.URL) {
			return nil, fmt.Errorf("ask %s as the App: GitHub's API is at %s", req.URL.Host, a.base.Host)
		}
		return t.RoundTrip(req.Clone(req.Context()))
	})
}

// roundTrip is a function that implements http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// clocked returns a transport that counts the requests of an installation, and uses GitHub's clock.
func (a *App) clocked(installation int64) http.RoundTripper {
	return &clocked{a, a.meter(installation)}
}

// clocked repeats a request once when an assertion is rejected and GitHub's clock, which each
// response shows, differs from this machine's.
type clocked struct {
	app  *App
	next http.RoundTripper
}

func (c *clocked) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	asserts := strings.HasPrefix(req.Header.Get("Authorization"), "Bearer ") // tokens of installations use "token" instead
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !asserts || !c.app.learn(resp) {
		return resp, err
	}
	again, ok := replay(req)
	if !ok {
		return resp, nil
	}
	assertion, err := c.app.Sign(nil)
	if err != nil {
		return resp, nil
	}
	_ = resp.Body.Close() // the rejection is not needed
	again.Header.Set("Authorization", "Bearer "+assertion)
	return c.next.RoundTrip(again)
}

// learn sets the skew from a response, and reports whether it changed.
func (a *App) learn(resp *http.Response) bool {
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	skew := theirs.Sub(a.clock.Now())
	if (skew - a.skew).Abs() < skewed {
		return false
	}
	a.log.Warn("this machine's clock differs from GitHub's", "by", skew.Round(time.Second).String())
	a.skew = skew
	return true
}

// replay returns a copy of a request to send again, if its body is still available.
func replay(req *http.Request) (*http.Request, bool) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return again, true
}
