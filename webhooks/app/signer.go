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
	// backdated is how far in the past an assertion says it was made: GitHub's clock may
	// be behind. GitHub asks for 60 seconds.
	backdated = time.Minute
	// assertionAge is how long one is valid. GitHub takes ten minutes at most, by its
	// own clock.
	assertionAge = 5 * time.Minute
	// skewed is the difference of the clocks that is worth an attempt by GitHub's.
	skewed = 30 * time.Second
)

// Sign makes the assertion that the App is itself, by GitHub's clock as far as it is
// known, and with the present key. It is ghinstallation's Signer; the claims it is given
// are by this machine's clock and of the App ID it began with.
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

// assertions is a transport that asks as the App itself, by way of next. There is one for
// each use, since ghinstallation writes to it.
func (a *App) assertions(next http.RoundTripper) *ghinstallation.AppsTransport {
	t, err := ghinstallation.NewAppsTransportWithOptions(next, a.ID(), ghinstallation.WithSigner(a))
	if err != nil {
		panic(err) // it has a signer, and nothing else can be wrong
	}
	t.BaseURL = a.base.String()
	return t
}

// asApp asks as the App, and nothing of other hosts.
func (a *App) asApp() http.RoundTripper {
	t := a.assertions(a.clocked(0))
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if !a.isAPI(req.URL) {
			return nil, fmt.Errorf("ask %s as the App: GitHub's API is at %s", req.URL.Host, a.base.Host)
		}
		return t.RoundTrip(req.Clone(req.Context()))
	})
}

// roundTrip is a function that is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// clocked meters the requests of an installation, by GitHub's clock.
func (a *App) clocked(installation int64) http.RoundTripper {
	return &clocked{a, a.meter(installation)}
}

// clocked asks once more when an assertion is refused and GitHub's clock, which each
// answer shows, is not this machine's.
type clocked struct {
	app  *App
	next http.RoundTripper
}

func (c *clocked) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	asserts := strings.HasPrefix(req.Header.Get("Authorization"), "Bearer ") // tokens of installations come with "token"
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
	_ = resp.Body.Close() // refused: nobody reads it
	again.Header.Set("Authorization", "Bearer "+assertion)
	return c.next.RoundTrip(again)
}

// learn takes GitHub's time from an answer, and reports whether that changed anything.
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

// replay is a request to send again, if its body is still available.
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
