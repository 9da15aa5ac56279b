package pages

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// Access is how viewers are authenticated.
type Access string

const (
	// AccessGitHub requires a login with GitHub, and shows viewers the repositories that they
	// may read there.
	AccessGitHub Access = "github"
	// AccessProxy takes the viewer's name from a header that a reverse proxy sets. All
	// viewers see all repositories: the proxy decides who has access.
	AccessProxy Access = "proxy"
	// AccessOpen shows everything to everybody on the loopback interface. For development.
	AccessOpen Access = "open"
)

// Config is the configuration of pages.
type Config struct {
	Queue *queue.Queue
	// App is the App that viewers log in to, and that finds the installation of a repository for
	// scans started by the API. It may be nil unless Access is AccessGitHub; then the API
	// starts no scans, and returns an error.
	App *app.App
	// PublicURL is the URL of the service without a path: https://preadmit.example.org.
	PublicURL string
	Access    Access

	// WebURL is the URL of GitHub's pages, for links. When empty, it is the App's or
	// https://github.com.
	WebURL string
	// Transport sends requests to GitHub about viewers and their rights;
	// http.DefaultTransport when nil.
	Transport http.RoundTripper

	// Header has the viewer's name, Proxies are the addresses that may set it. Only for
	// AccessProxy. The HTTP server must not change http.Request.RemoteAddr.
	Header  string
	Proxies []netip.Prefix

	// Admins are the logins of operators, who see the queue and revive dead letters. With
	// AccessProxy an empty list means all viewers; with AccessOpen everybody is an operator.
	Admins []string
	// Tokens are the tokens of the API.
	Tokens []Token

	// Version is shown at the foot of the pages.
	Version string
	Log     *slog.Logger     // nil: nothing is logged
	Now     func() time.Time // nil: time.Now
}

// Pages serves the pages and the API.
type Pages struct {
	config    Config
	public    *url.URL
	templates *template.Template
	static    map[string]asset
	style     string // name of the style sheet below /static/
	script    string
	rights    *rights
	ended     *ended
	starts    *starts
	// drawing limits how many reports are read and rendered at a time, since one may
	// have many megabytes.
	drawing chan struct{}
}

// drawings is how many reports are rendered at a time.
const drawings = 2

// New returns Pages for a configuration. Its errors name the key of the service's configuration
// and what to do.
func New(c Config) (*Pages, error) {
	public, err := checkConfig(&c)
	if err != nil {
		return nil, err
	}
	p := &Pages{config: c, public: public, drawing: make(chan struct{}, drawings)}
	p.rights, p.ended = newRights(c.Now), newEnded(c.Now)
	p.starts = newStarts(c.Tokens)
	if p.templates, err = parseTemplates(); err != nil {
		return nil, fmt.Errorf("parse the templates of pages: %w", err)
	}
	p.static, p.style, p.script = assets()
	return p, nil
}

// Routes adds the pages, the API, and handlers for unknown paths and methods.
func (p *Pages) Routes(r chi.Router) {
	r.NotFound(p.nothing(http.StatusNotFound))
	r.MethodNotAllowed(p.nothing(http.StatusMethodNotAllowed))
	r.Get("/static/{name}", p.serveStatic)
	r.Group(func(r chi.Router) {
		r.Use(p.protect)
		if p.config.Access == AccessGitHub {
			r.Get("/login", p.open(p.login))
			r.Get("/login/callback", p.open(p.loggedIn))
			r.Post("/logout", p.open(p.logout))
		}
		r.Get("/", p.page(p.recent))
		r.Get("/repos/{owner}/{repo}", p.page(p.repository))
		r.Get("/repos/{owner}/{repo}/pulls/{number}", p.page(p.pull))
		r.Get("/scans/{id}", p.page(p.scan))
		r.Get("/scans/{id}/status", p.page(p.status))
		r.Get("/scans/{id}/report.json", p.page(p.download("json")))
		r.Get("/scans/{id}/report.sarif", p.page(p.download("sarif")))
		r.Post("/scans/{id}/rescan", p.page(p.rescan))
		r.Get("/queue", p.page(p.queue))
		r.Post("/queue/dead/{sequence}/revive", p.page(p.revive))
	})
	p.apiRoutes(r)
}

// URL returns the URL of a scan's page, for check runs and comments.
func (p *Pages) URL(id string) string { return p.absolute("/scans/" + id) }

func (p *Pages) absolute(path string) string {
	return strings.TrimSuffix(p.public.String(), "/") + path
}

// draw waits until a report may be rendered; the caller calls done afterwards.
func (p *Pages) draw(ctx context.Context) (done func(), err error) {
	select {
	case p.drawing <- struct{}{}:
		return func() { <-p.drawing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
