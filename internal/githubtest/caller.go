package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// kind is how a caller was authenticated.
type kind int

const (
	nobody         kind = iota
	asWorkflow          // by the token of the configuration
	asApp               // an App, by its assertion
	asInstallation      // an App, by an installation token
	asUser              // a user, by a token of an App's login
	asClient            // an App, by its client ID and secret
)

// caller is the client of a request.
type caller struct {
	kind         kind
	login        string
	app          *App
	installation *installation
	// permissions and repositories restrict a token.
	permissions  map[string]string
	repositories []int64 // nil: all of the installation
	expires      time.Time
	revoked      bool
}

// caller returns the client of a request. When it is nil, the answer has the error.
func (s *Server) caller(r *http.Request) (*caller, answer) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if user, password, basic := r.BasicAuth(); basic {
		token = password
		if token == "" {
			token = user
		}
	} else if scheme != "Bearer" && scheme != "token" {
		token = ""
	}
	known := s.tokens[token]
	switch app := s.client(r); {
	case app != nil:
		return &caller{kind: asClient, login: app.Slug + "[bot]", app: app}, answer{}
	case known != nil && !known.revoked && s.config.Now().Before(known.expires):
		return known, answer{}
	case strings.HasPrefix(token, "eyJ"):
		return s.assertion(token)
	case s.config.Token != "" && token == s.config.Token,
		s.config.Token == "" && len(s.apps) == 0:
		return &caller{kind: asWorkflow, login: s.config.Login}, answer{}
	case token == "" && len(s.apps) > 0:
		return &caller{kind: nobody}, answer{}
	}
	return nil, message(http.StatusUnauthorized, "Bad credentials")
}

// client returns the App whose client ID and secret a request has, or nil.
func (s *Server) client(r *http.Request) *App {
	id, secret, _ := r.BasicAuth()
	i := slices.IndexFunc(s.apps, func(a *App) bool { return a.ClientID == id && a.ClientSecret == secret })
	if i < 0 {
		return nil
	}
	return s.apps[i]
}

// granted reports whether a token has one of the permissions in "a: read|b: read".
func (c *caller) granted(needs string) bool {
	for need := range strings.SplitSeq(needs, "|") {
		name, level, _ := strings.Cut(need, ": ")
		if atLeast(c.permissions[name], level) || name == "metadata" {
			return true
		}
	}
	return false
}

// atLeast compares permission levels or roles.
func atLeast(has, needed string) bool {
	order := []string{"read", "triage", "write", "maintain", "admin"}
	return slices.Index(order, has) >= slices.Index(order, needed)
}

// sees reports whether the caller may know that a repository exists. GitHub lets an installation
// token read all public repositories; here it may read only those that it was restricted to, so
// that tests notice other requests.
func (s *Server) sees(who *caller, repo *repository) bool {
	switch who.kind {
	case asWorkflow:
		return true
	case asInstallation:
		return who.installation.covers(repo) && (who.repositories == nil || slices.Contains(who.repositories, repo.id))
	case asUser:
		return repo.roleOf(who.login) != "" && (!repo.Private || s.installedOn(who.app, repo))
	case nobody:
		return !repo.Private
	}
	return false
}

// installedOn reports whether an App is installed on a repository: the tokens of its users give
// access to no other private ones.
func (s *Server) installedOn(app *App, repo *repository) bool {
	return slices.ContainsFunc(s.installed, func(in *installation) bool { return in.app == app && in.covers(repo) })
}

// bot reports whether a caller is an App.
func (c *caller) bot() bool { return strings.HasSuffix(c.login, "[bot]") }

// slug returns the slug of the App of a caller.
func (c *caller) slug() string { return strings.TrimSuffix(c.login, "[bot]") }
