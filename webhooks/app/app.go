package app

import (
	"bytes"
	"context"
	"crypto/rsa"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github/retry"
	"github.com/preadmit/preadmit/webhooks/metrics"
)

// These are the keys of the service's configuration that errors of this package name.
const (
	KeyID            = "app.id"
	KeyPrivateKey    = "app.privateKeyFile"
	KeyWebhookSecret = "app.webhookSecretFile"
	KeyClientID      = "app.clientID"
	KeyClientSecret  = "app.clientSecretFile"
	KeyBaseURL       = "github.apiURL"
	KeyWebURL        = "github.url"
)

// DefaultBaseURL is the API of github.com, and DefaultWebURL its pages.
const (
	DefaultBaseURL = "https://api.github.com/"
	DefaultWebURL  = "https://github.com"
)

// keepSecret is how long the previous webhook secret is still taken after Reload: what
// GitHub sent with it may be on its way, or be delivered again.
const keepSecret = 10 * time.Minute

// Credentials are the App's, as GitHub gave them.
type Credentials struct {
	// ID is the App ID, and Slug its name in URLs, which may be empty.
	ID   int64
	Slug string
	// ClientID and ClientSecret are for people's login; both may be empty.
	ClientID, ClientSecret string
	// PrivateKey is an RSA key in PEM.
	PrivateKey []byte
	// WebhookSecret signs deliveries. It must not be empty.
	WebhookSecret string
}

// String hides the secrets.
func (c Credentials) String() string { return fmt.Sprintf("App %d", c.ID) }

// GoString hides the secrets.
func (c Credentials) GoString() string { return c.String() }

// LogValue hides the secrets.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Config says which App, and where.
type Config struct {
	// BaseURL is the root of the API: DefaultBaseURL when empty, https://HOST/api/v3/ on
	// GitHub Enterprise Server.
	BaseURL string
	// WebURL is the root of the pages; when empty it follows from BaseURL.
	WebURL      string
	Credentials Credentials
	// Transport makes the requests; http.DefaultTransport when nil.
	Transport http.RoundTripper
	// Clock returns the time and waits; the system's when nil.
	Clock retry.Clock
	// Log receives what happens; nil discards it.
	Log *slog.Logger
	// Metrics counts requests; nil counts nothing.
	Metrics *metrics.GitHub
}

// App is a GitHub App. It is for any number of goroutines.
type App struct {
	base, web *url.URL
	next      http.RoundTripper
	clock     retry.Clock
	log       *slog.Logger
	metrics   *metrics.GitHub
	self      *github.Client // as the App itself

	mu       sync.Mutex
	creds    Credentials
	key      *rsa.PrivateKey
	skew     time.Duration // GitHub's clock, less ours
	previous string        // webhook secret
	replaced time.Time
	slug     string // as GitHub says
	access   map[accessKey]*Access
}

// New makes an App of its credentials. It asks nothing of GitHub; see Self. Its errors
// are *KeyError.
func New(c Config) (*App, error) {
	key, err := c.Credentials.check()
	if err != nil {
		return nil, err
	}
	base, err := apiURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	web, err := webURL(base, c.WebURL)
	if err != nil {
		return nil, err
	}
	a := &App{
		base: base, web: web, next: c.Transport, clock: c.Clock, log: c.Log, metrics: c.Metrics,
		creds: c.Credentials, key: key, access: map[accessKey]*Access{},
	}
	if a.next == nil {
		a.next = http.DefaultTransport
	}
	a.next = retry.Bounded(a.next)
	if a.clock == nil {
		a.clock = retry.SystemClock{}
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.self = a.client(a.asApp())
	return a, nil
}

// Reload takes other credentials, for requests from now on. What is at work goes on
// with its tokens, which stay valid; only those of another App are forgotten. Another ID
// or private key is tried first: unless GitHub takes it, the present credentials stay. The
// error names the key when the credentials are wrong, and is ErrCredentials when it is
// GitHub that says so.
func (a *App) Reload(ctx context.Context, c Credentials) error {
	key, err := c.check()
	if err != nil {
		return err
	}
	slug := ""
	if now := a.Credentials(); c.ID != now.ID || !bytes.Equal(c.PrivateKey, now.PrivateKey) {
		if slug, err = a.try(ctx, c); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.WebhookSecret != a.creds.WebhookSecret {
		a.previous, a.replaced = a.creds.WebhookSecret, a.clock.Now()
	}
	if c.ID != a.creds.ID {
		clear(a.access)
		a.slug = slug
	}
	a.creds, a.key = c, key
	return nil
}

// try asks GitHub who the App of other credentials is.
func (a *App) try(ctx context.Context, c Credentials) (slug string, err error) {
	other, err := New(Config{
		BaseURL: a.base.String(), WebURL: a.web.String(), Credentials: c,
		Transport: a.next, Clock: a.clock, Log: a.log, Metrics: a.metrics,
	})
	if err != nil {
		return "", err
	}
	slug, _, err = other.Self(ctx)
	return slug, err
}

// Credentials are those in use.
func (a *App) Credentials() Credentials {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.creds
}

// ID is the App's.
func (a *App) ID() int64 { return a.Credentials().ID }

// BaseURL is the root of the API, with a slash at the end.
func (a *App) BaseURL() string { return a.base.String() }

// WebURL is the root of GitHub's pages, without a slash at the end.
func (a *App) WebURL() string { return a.web.String() }

// WebhookSecrets are those that deliveries may be signed with: the present one, and for
// ten minutes after Reload the one before.
func (a *App) WebhookSecrets() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := [][]byte{[]byte(a.creds.WebhookSecret)}
	if a.previous != "" && a.clock.Now().Sub(a.replaced) < keepSecret {
		out = append(out, []byte(a.previous))
	}
	return out
}

// Self asks GitHub who the App is, once. Its error is ErrCredentials, with the keys of
// the configuration, when GitHub does not take the credentials.
func (a *App) Self(ctx context.Context) (slug string, id int64, err error) {
	a.mu.Lock()
	slug, id = a.slug, a.creds.ID
	a.mu.Unlock()
	if slug != "" {
		return slug, id, nil
	}
	got, _, err := a.self.Apps.Get(ctx, "")
	if err != nil {
		return "", 0, a.explain("ask GitHub who the App is", err)
	}
	if got.GetID() != id || got.GetSlug() == "" {
		return "", 0, fmt.Errorf("ask GitHub who the App is: it says App %d: check %s, and %s or %s: %w", got.GetID(), KeyID, KeyWebURL, KeyBaseURL, ErrCredentials)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.creds.ID == id {
		a.slug = got.GetSlug()
	}
	return got.GetSlug(), id, nil
}

// Login is the author of the App's comments and check runs: "SLUG[bot]".
func (a *App) Login(ctx context.Context) (string, error) {
	slug, _, err := a.Self(ctx)
	if err != nil {
		return "", err
	}
	return slug + "[bot]", nil
}
