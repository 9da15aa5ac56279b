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

// AppOptions are the properties of a GitHub App.
type AppOptions struct {
	// Name is "preadmit" when empty; the slug is derived from it.
	Name string
	// WebhookURL is the URL for events; none are sent when it is empty. WebhookSecret signs
	// them, "webhook-secret" when empty.
	WebhookURL, WebhookSecret string
	// Permissions are the permissions that installations grant; those of the bot when nil.
	Permissions map[string]string
	// Events are the subscribed events; those of the bot when nil. installation,
	// installation_repositories and ping are always sent.
	Events []string
	// Callbacks are the URLs that logins may redirect to; any when empty.
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
	lose       int // number of deliveries to lose
	loseStatus int
	clock      int // sequence of GUIDs
}

// botPermissions returns the permissions of a bot that judges pull requests.
func botPermissions() map[string]string {
	return map[string]string{
		"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "write", "security_events": "write",
		"issues": "read", "merge_queues": "read",
	}
}

// AddApp creates an App. It receives no webhooks before Install.
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

// firstKey returns the key of the first App of each Server, which they all share:
// generating one takes longer than most tests.
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

// WebhookSecret returns the secret that signs deliveries.
func (a *App) WebhookSecret() string {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	return a.opts.WebhookSecret
}

// RotateKey replaces the private key of the App, and returns it as PEM. The previous one
// becomes invalid.
func (a *App) RotateKey() ([]byte, error) {
	key, err := generateKey()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	a.server.locked(func() { a.key = key })
	return encodeKey(key), nil
}

// RotateClientSecret replaces the client secret of the App, and returns it. The previous one
// becomes invalid.
func (a *App) RotateClientSecret() string {
	a.server.locked(func() { a.ClientSecret = fmt.Sprintf("%040x", a.server.name()*7919) })
	return a.ClientSecret
}

func encodeKey(key *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// SetWebhook sets the URL and the secret for deliveries.
func (a *App) SetWebhook(url, secret string) {
	a.server.locked(func() { a.opts.WebhookURL, a.opts.WebhookSecret = url, secret })
}

// Apps returns all Apps in order of creation.
func (s *Server) Apps() []*App {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.apps)
}

// appID returns the ID of an App by its slug. An App that this server does not know has an ID,
// too.
func (s *Server) appID(slug string) int64 {
	for _, a := range s.apps {
		if a.Slug == slug {
			return a.ID
		}
	}
	return int64(15368 + len(slug))
}

// appBody returns the JSON body of an App.
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
