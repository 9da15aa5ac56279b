package githubtest

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// code is a code in the redirect from a page of GitHub, which can be used once.
type code struct {
	app       *App
	login     string
	redirect  string
	challenge string // of PKCE
	manifest  bool
	expires   time.Time
}

// SetViewer sets the user who is logged in at GitHub's pages. Without one, the login page asks.
func (s *Server) SetViewer(login string) { s.locked(func() { s.viewer = login }) }

// isPage reports whether a path is one of a web page and not of the API.
func isPage(path string) bool {
	return strings.HasPrefix(path, "/login/oauth/") || path == "/settings/apps/new" || strings.HasPrefix(path, "/organizations/")
}

// servePage handles GitHub's web pages: the login of an App's users, and the creation of an App.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	switch r.URL.Path {
	case "/login/oauth/authorize":
		s.authorize(w, r)
	case "/login/oauth/access_token":
		s.exchange(w, r)
	default:
		s.newApp(w, r)
	}
}

// authorize approves a login at once: of the user who is logged in, or who was chosen.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := r.Form
	i := slices.IndexFunc(s.apps, func(a *App) bool { return a.ClientID == query.Get("client_id") })
	if i < 0 {
		http.NotFound(w, r)
		return
	}
	app := s.apps[i]
	redirect := query.Get("redirect_uri")
	if redirect == "" && len(app.opts.Callbacks) > 0 {
		redirect = app.opts.Callbacks[0]
	}
	if len(app.opts.Callbacks) > 0 && !slices.Contains(app.opts.Callbacks, redirect) {
		http.Error(w, "The redirect_uri is not associated with this application.", http.StatusBadRequest)
		return
	}
	login := cmp.Or(query.Get("choose"), s.viewer)
	if login == "" {
		s.choose(w, r)
		return
	}
	back := url.Values{"state": {query.Get("state")}}
	if login == "-" {
		back.Set("error", "access_denied")
	} else {
		c := &code{app: app, login: login, redirect: redirect, challenge: query.Get("code_challenge"), expires: s.config.Now().Add(10 * time.Minute)}
		back.Set("code", s.keep(c))
	}
	http.Redirect(w, r, withQuery(redirect, back), http.StatusFound)
}

// keep stores a code and returns its name.
func (s *Server) keep(c *code) string {
	sum := sha256.Sum256([]byte(time.Duration(s.name()).String()))
	name := base64.RawURLEncoding.EncodeToString(sum[:15])
	s.codes[name] = c
	return name
}

func withQuery(to string, more url.Values) string {
	if strings.Contains(to, "?") {
		return to + "&" + more.Encode()
	}
	return to + "?" + more.Encode()
}

// choose shows the page that asks who logs in, with all known accounts.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) {
	page := template.Must(template.New("choose").Parse(`<!doctype html><title>Sign in to GitHub for tests</title>
{{range .Logins}}<p><a id="choose-{{.}}" href="?{{$.Query}}&choose={{.}}">{{.}}</a></p>
{{end}}<p><a id="cancel" href="?{{.Query}}&choose=-">Cancel</a></p>`))
	var logins []string
	for _, name := range slices.Sorted(maps.Keys(s.accounts)) {
		if !strings.Contains(name, " ") && !strings.HasSuffix(name, "[bot]") {
			logins = append(logins, name)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, map[string]any{"Logins": logins, "Query": template.URL(r.URL.RawQuery)}) // errors concern only the client
}

// exchange exchanges a code for a user's token. Like GitHub it responds with 200 to errors.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := url.Values{}
	c := s.codes[r.Form.Get("code")]
	delete(s.codes, r.Form.Get("code"))
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.Form.Get("client_id"), r.Form.Get("client_secret")
	}
	switch {
	case c == nil || c.manifest || s.config.Now().After(c.expires):
		out.Set("error", "bad_verification_code")
		out.Set("error_description", "The code passed is incorrect or expired.")
	case c.app.ClientID != id || subtle.ConstantTimeCompare([]byte(c.app.ClientSecret), []byte(secret)) == 0:
		out.Set("error", "incorrect_client_credentials")
	case r.Form.Get("redirect_uri") != "" && r.Form.Get("redirect_uri") != c.redirect:
		out.Set("error", "redirect_uri_mismatch")
	case c.challenge != "" && !proves(r.Form.Get("code_verifier"), c.challenge):
		out.Set("error", "bad_verification_code")
	default:
		user := &caller{kind: asUser, login: c.login, app: c.app, expires: s.config.Now().Add(8 * time.Hour)}
		out.Set("access_token", s.issue("ghu", user))
		out.Set("token_type", "bearer")
		out.Set("scope", "")
	}
	if !strings.Contains(r.Header.Get("Accept"), "json") {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		_, _ = w.Write([]byte(out.Encode())) // errors concern only the client
		return
	}
	flat := map[string]string{}
	for name := range out {
		flat[name] = out.Get(name)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(flat) // errors concern only the client
}

// proves checks the verifier of PKCE's S256.
func proves(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:]) == challenge
}

// UserToken returns a token that a user gets by logging in with an App.
func (a *App) UserToken(login string) string {
	s := a.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.userBody(login)
	return s.issue("ghu", &caller{kind: asUser, login: login, app: a, expires: s.config.Now().Add(8 * time.Hour)})
}

// AddUser creates an account, so that the login page shows it.
func (s *Server) AddUser(login string) { s.locked(func() { s.userBody(login) }) }
