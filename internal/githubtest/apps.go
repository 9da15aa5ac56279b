package githubtest

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

// AppOptions describe a GitHub App.
type AppOptions struct {
	// Name is "preadmit" when empty; the slug is made of it.
	Name string
	// WebhookURL is where events go; nowhere when empty. WebhookSecret signs them,
	// "webhook-secret" when empty.
	WebhookURL, WebhookSecret string
	// Permissions are what installations grant; those of the bot when nil.
	Permissions map[string]string
	// Events are those that are sent; those of the bot when nil. installation,
	// installation_repositories and ping are always sent.
	Events []string
	// Callbacks are the URLs that logins may return to; any when empty.
	Callbacks []string
}

// App is a GitHub App of a Server.
type App struct {
	// ID, Slug, ClientID, ClientSecret and PrivateKey, which is PEM, are its credentials.
	ID                           int64
	Slug, ClientID, ClientSecret string
	PrivateKey                   []byte

	server *Server
	opts   AppOptions
	key    *rsa.PrivateKey

	deliveries []*Delivery
	lose       int // deliveries
	loseStatus int
	clock      int // sequence of GUIDs
}

// botPermissions are those of a bot that judges pull requests.
func botPermissions() map[string]string {
	return map[string]string{
		"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "write", "security_events": "write",
		"issues": "read", "merge_queues": "read",
	}
}

// AddApp makes an App. It receives no webhooks before Install.
func (s *Server) AddApp(o AppOptions) (*App, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	generate := generateKey
	if len(s.apps) == 0 {
		generate = firstKey
	}
	key, err := generate()
	if err != nil {
		return nil, fmt.Errorf("make an App: %w", err)
	}
	return s.addApp(o, key), nil
}

// firstKey returns the key of the first App of each Server, which is made once for all of
// them: making one takes longer than most tests.
var firstKey = sync.OnceValues(generateKey)

func generateKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }

func (s *Server) addApp(o AppOptions, key *rsa.PrivateKey) *App {
	o.Name = cmp.Or(o.Name, "preadmit")
	o.WebhookSecret = cmp.Or(o.WebhookSecret, "webhook-secret")
	if o.Permissions == nil {
		o.Permissions = botPermissions()
	}
	if o.Events == nil {
		o.Events = []string{"check_run", "check_suite", "issue_comment", "merge_group", "pull_request", "push"}
	}
	a := &App{server: s, opts: o, key: key, ID: s.name(), Slug: strings.ReplaceAll(strings.ToLower(o.Name), " ", "-")}
	a.ClientID, a.ClientSecret = fmt.Sprintf("Iv23li%014d", a.ID), fmt.Sprintf("%040x", a.ID*7919)
	a.PrivateKey = encodeKey(key)
	s.apps = append(s.apps, a)
	return a
}

// WebhookSecret is what deliveries are signed with.
func (a *App) WebhookSecret() string {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	return a.opts.WebhookSecret
}

// RotateKey makes another private key for the App, and returns it as PEM. The one before
// is not taken any more.
func (a *App) RotateKey() ([]byte, error) {
	key, err := generateKey()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	a.server.locked(func() { a.key = key })
	return encodeKey(key), nil
}

// RotateClientSecret makes another client secret for the App, and returns it. The one before is
// not taken any more.
func (a *App) RotateClientSecret() string {
	a.server.locked(func() { a.ClientSecret = fmt.Sprintf("%040x", a.server.name()*7919) })
	return a.ClientSecret
}

func encodeKey(key *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// SetWebhook says where deliveries go and what signs them.
func (a *App) SetWebhook(url, secret string) {
	a.server.locked(func() { a.opts.WebhookURL, a.opts.WebhookSecret = url, secret })
}

// Apps are all, the first one first: those that a manifest made come last.
func (s *Server) Apps() []*App {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.apps)
}

// appID is the number of an App by its slug; one that this server does not know has one
// as well.
func (s *Server) appID(slug string) int64 {
	for _, a := range s.apps {
		if a.Slug == slug {
			return a.ID
		}
	}
	return int64(15368 + len(slug))
}

// appBody is an App in GitHub's words.
func (s *Server) appBody(slug string) map[string]any {
	permissions, events := map[string]string{"checks": "write"}, []string{}
	for _, a := range s.apps {
		if a.Slug == slug {
			permissions, events = maps.Clone(a.opts.Permissions), a.opts.Events
		}
	}
	return map[string]any{
		"id": s.appID(slug), "slug": slug, "node_id": "A_1", "owner": s.userBody("github"), "name": slug,
		"description": "", "external_url": "https://example.com", "html_url": "https://github.com/apps/" + slug,
		"created_at": openapi.Moment, "updated_at": openapi.Moment, "events": events, "permissions": permissions,
	}
}

func (s *Server) getApp(q *query) answer { return ok(s.appBody(q.who.app.Slug)) }
