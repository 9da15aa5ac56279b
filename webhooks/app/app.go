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

// Keys of the service's configuration that appear in errors of this package.
const (
	KeyID            = "app.id"
	KeyPrivateKey    = "app.privateKeyFile"
	KeyWebhookSecret = "app.webhookSecretFile"
	KeyClientID      = "app.clientID"
	KeyClientSecret  = "app.clientSecretFile"
	KeyBaseURL       = "github.apiURL"
	KeyWebURL        = "github.url"
)

// The API of github.com, and its web pages.
const (
	DefaultBaseURL = "https://api.github.com/"
	DefaultWebURL  = "https://github.com"
)

// keepSecret is how long the previous webhook secret is still accepted after Reload: deliveries
// signed with it may be in transit, or be redelivered.
const keepSecret = 10 * time.Minute

// Credentials are the credentials of the App, as GitHub issued them.
type Credentials struct {
	// ID is the App ID, and Slug its name in URLs, which may be empty.
	ID   int64
	Slug string
	// ClientID and ClientSecret are for the login of people; both may be empty.
	ClientID, ClientSecret string
	// PrivateKey is an RSA key in PEM.
	PrivateKey []byte
	// WebhookSecret is the key that signs deliveries. It must not be empty.
	WebhookSecret string
}

// String hides the secrets.
func (c Credentials) String() string { return fmt.Sprintf("App %d", c.ID) }

// GoString hides the secrets.
func (c Credentials) GoString() string { return c.String() }

// LogValue hides the secrets.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Config is the configuration of an App.
type Config struct {
	// BaseURL is the root of the API: DefaultBaseURL when empty, https://HOST/api/v3/ on
	// GitHub Enterprise Server.
	BaseURL string
	// WebURL is the root of the web pages; when empty it is derived from BaseURL.
	WebURL      string
	Credentials Credentials
	// Transport sends the requests; http.DefaultTransport when nil.
	Transport http.RoundTripper
	// Clock returns the time and waits; the system's when nil.
	Clock retry.Clock
	// Log receives messages; nil discards them.
	Log *slog.Logger
	// Metrics counts requests; nil counts nothing.
	Metrics *metrics.GitHub
}

// App is a GitHub App. It is safe for concurrent use.
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
	skew     time.Duration // of GitHub's clock, relative to ours
	previous string        // the previous webhook secret
	replaced time.Time
	slug     string // as GitHub returned it
	access   map[accessKey]*Access
}

// New returns an App for credentials. It sends no request to GitHub; see Self. Its errors
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

// Reload replaces the credentials for later requests. Work in progress continues with its tokens,
// which stay valid; only those of another App are removed. A new ID or private key is verified
// first: if GitHub rejects it, the current credentials stay. The error names the key of the
// configuration when the credentials are invalid, and is ErrCredentials when GitHub rejects
// them.
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

// try verifies other credentials with GitHub, and returns the slug of their App.
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

// Credentials returns the current credentials.
func (a *App) Credentials() Credentials {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.creds
}

// ID returns the App ID.
func (a *App) ID() int64 { return a.Credentials().ID }

// BaseURL returns the root of the API, with a slash at the end.
func (a *App) BaseURL() string { return a.base.String() }

// WebURL returns the root of GitHub's web pages, without a slash at the end.
func (a *App) WebURL() string { return a.web.String() }

// WebhookSecrets returns the secrets that deliveries may be signed with: the current one, and for
// ten minutes after Reload the previous one.
func (a *App) WebhookSecrets() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := [][]byte{[]byte(a.creds.WebhookSecret)}
	if a.previous != "" && a.clock.Now().Sub(a.replaced) < keepSecret {
		out = append(out, []byte(a.previous))
	}
	return out
}

// Self returns the App's slug and ID, which are requested from GitHub once. Its error is ErrCredentials,
// with the keys of the configuration, when GitHub rejects the credentials.
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
		return "", 0, fmt.Errorf("identify the App with GitHub: it is App %d: check %s, and %s or %s: %w", got.GetID(), KeyID, KeyWebURL, KeyBaseURL, ErrCredentials)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.creds.ID == id {
		a.slug = got.GetSlug()
	}
	return got.GetSlug(), id, nil
}

// Login returns the author of the App's comments and check runs: "SLUG[bot]".
func (a *App) Login(ctx context.Context) (string, error) {
	slug, _, err := a.Self(ctx)
	if err != nil {
		return "", err
	}
	return slug + "[bot]", nil
}
