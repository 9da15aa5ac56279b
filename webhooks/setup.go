package webhooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // setup.html
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/pages"
)

var (
	//go:embed setup.html
	setupHTML string
	//go:embed setup.css
	setupCSS string
)

// docsURL is the URL of the documentation.
const docsURL = "https://github.com/preadmit/preadmit/blob/main/docs/"

// stateCookie has the state of a setup in progress.
const stateCookie = "preadmit_setup"

// setup creates the App by GitHub's manifest flow
// (https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest).
type setup struct {
	service *Service
	page    *template.Template
	// secret signs webhooks until there is an App.
	secret string

	mu    sync.Mutex
	state string // of the setup that was started last; empty without one
}

func newSetup(s *Service, secret string) (*setup, error) {
	page, err := template.New("setup").Parse(setupHTML)
	if err != nil {
		return nil, fmt.Errorf("parse the setup page: %w", err)
	}
	return &setup{service: s, page: page, secret: secret}, nil
}

func (u *setup) routes(r chi.Router) {
	r.Get("/", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/setup", http.StatusFound) })
	r.Get("/setup", u.show)
	r.Get(app.SetupCallbackPath, u.finish)
}

// setupPage is the data of setup.html.
type setupPage struct {
	Style                     template.CSS
	Problem, Version, Secret  string
	Local, Public, Name       string
	Organization, File        string
	Manifest, Webhook, Action string
	Docs                      string
}

// organization matches the login of an organization.
var organization = regexp.MustCompile(`^[A-Za-z0-9](-?[A-Za-z0-9]){0,38}$`)

// show shows the form for the manifest, or the button that sends the manifest to GitHub.
func (u *setup) show(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page := setupPage{
		Public: strings.TrimSuffix(q.Get("url"), "/"), Name: q.Get("name"), Organization: q.Get("organization"),
	}
	if page.Public == "" {
		page.Public = u.service.config.PublicURL
	}
	if page.Name == "" {
		page.Name = "preadmit"
	}
	if q.Has("url") {
		if err := u.offer(w, &page); err != nil {
			u.write(w, http.StatusBadRequest, page, err)
			return
		}
	}
	u.write(w, http.StatusOK, page, nil)
}

// offer creates the manifest and starts a setup.
func (u *setup) offer(w http.ResponseWriter, page *setupPage) error {
	if page.Organization != "" && !organization.MatchString(page.Organization) {
		return fmt.Errorf("%q is not the login of an organization", page.Organization)
	}
	if p, err := url.Parse(page.Public); err != nil || p.Scheme != "https" || p.Host == "" || strings.Trim(p.Path, "/") != "" {
		return fmt.Errorf("%q: want a URL like https://preadmit.example.com, which GitHub can reach", page.Public)
	}
	manifest, err := app.Manifest(app.ManifestOptions{Name: page.Name, PublicURL: u.service.URL(), WebhookURL: page.Public + app.WebhookPath})
	if err != nil {
		return err
	}
	state := rand.Text()
	u.mu.Lock()
	u.state = state
	u.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: stateCookie, Value: state, Path: "/setup", MaxAge: 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	owner := "/settings/apps/new"
	if page.Organization != "" {
		owner = "/organizations/" + page.Organization + owner
	}
	page.Manifest, page.Webhook = string(manifest), page.Public+app.WebhookPath
	page.Action = u.service.config.GitHub.URL + owner + "?state=" + state
	return nil
}

// finish handles the redirect from GitHub with a code.
func (u *setup) finish(w http.ResponseWriter, r *http.Request) {
	credentials, err := u.credentials(r)
	if err == nil {
		err = u.service.adopt(r.Context(), credentials)
	}
	if err != nil {
		u.service.log.Warn("setup", "error", err)
		u.write(w, http.StatusBadRequest, setupPage{Name: "preadmit", Public: u.service.config.PublicURL}, err)
		return
	}
	http.Redirect(w, r, u.service.config.GitHub.URL+"/apps/"+url.PathEscape(credentials.Slug)+"/installations/new", http.StatusFound)
}

func (u *setup) credentials(r *http.Request) (app.Credentials, error) {
	state := r.URL.Query().Get("state")
	cookie, err := r.Cookie(stateCookie)
	if err != nil || !u.ends(state, cookie.Value) {
		return app.Credentials{}, errors.New("this answer does not belong to a setup that was begun here: begin again")
	}
	return app.Convert(r.Context(), u.service.apiURL(), r.URL.Query().Get("code"))
}

// ends reports whether all states are that of the setup in progress, and ends that setup.
func (u *setup) ends(states ...string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	begun := u.state
	u.state = ""
	for _, state := range states {
		if begun == "" || subtle.ConstantTimeCompare([]byte(state), []byte(begun)) == 0 {
			return false
		}
	}
	return true
}

func (u *setup) write(w http.ResponseWriter, status int, page setupPage, problem error) {
	css := pages.Stylesheet() + setupCSS
	page.Style, page.Version, page.Secret = template.CSS(css), u.service.options.Version, u.secret
	page.Docs = docsURL
	page.Local, page.File = u.service.URL(), filepath.Join(u.service.config.DataDir, appFile)
	if problem != nil {
		page.Problem = problem.Error()
	}
	var b bytes.Buffer
	if err := u.page.Execute(&b, page); err != nil {
		u.service.log.Error("setup page", "error", err)
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	style := sha256.Sum256([]byte(css))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(style[:])+
		"'; img-src data:; form-action 'self' "+u.service.config.GitHub.URL+"; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "strict-origin") // GitHub checks where the form came from
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // the browser may have disconnected
}

// adopt makes an App the service's own, now and after a restart.
func (s *Service) adopt(ctx context.Context, c app.Credentials) error {
	if err := s.secrets.save(c); err != nil {
		return err
	}
	s.log.Info("there is a GitHub App now", "app", c.ID, "slug", c.Slug)
	return s.goLive(context.WithoutCancel(ctx), c)
}
