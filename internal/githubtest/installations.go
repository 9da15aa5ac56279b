package githubtest

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

// Installation is the installation of an App on an account of a Server.
type Installation struct {
	server *Server
	in     *installation
}

// installation is the state of an Installation. The server's lock guards it.
type installation struct {
	id          int64
	app         *App
	account     string
	permissions map[string]string
	repos       []*repository // nil: all of the account
	suspended   bool
	left        int // requests left in this hour
}

// covers reports whether a repository belongs to an installation.
func (i *installation) covers(r *repository) bool {
	return !r.deleted && r.Owner == i.account && (i.repos == nil || slices.Contains(i.repos, r))
}

// Install installs an App on an account: for some of its repositories, or for all when
// none are named. It sends the event.
func (a *App) Install(account string, repos ...*Repository) (*Installation, error) {
	s := a.server
	in := &installation{app: a, account: account, permissions: maps.Clone(a.opts.Permissions), left: 5000}
	for _, r := range repos {
		in.repos = append(in.repos, r.repo)
	}
	return &Installation{server: s, in: in}, s.act(func() error {
		in.id = s.name()
		s.installed = append(s.installed, in)
		s.sendInstallation(in, "created")
		return nil
	})
}

// ID returns GitHub's ID of the installation.
func (i *Installation) ID() int64 { return i.in.id }

// SetPermissions sets what the installation grants, for example less than the App requests.
// Existing tokens keep their permissions.
func (i *Installation) SetPermissions(permissions map[string]string) {
	i.server.locked(func() { i.in.permissions = maps.Clone(permissions) })
}

// AcceptPermissions grants all permissions of the App, and sends the event.
func (i *Installation) AcceptPermissions() error {
	return i.server.act(func() error {
		i.in.permissions = maps.Clone(i.in.app.opts.Permissions)
		i.server.sendInstallation(i.in, "new_permissions_accepted")
		return nil
	})
}

// Suspend suspends or unsuspends the installation, and sends the event.
func (i *Installation) Suspend(suspended bool) error {
	return i.server.act(func() error {
		i.in.suspended = suspended
		i.server.sendInstallation(i.in, map[bool]string{true: "suspend", false: "unsuspend"}[suspended])
		return nil
	})
}

// Uninstall removes the installation with its tokens, and sends the event.
func (i *Installation) Uninstall() error {
	return i.server.act(func() error {
		i.server.sendInstallation(i.in, "deleted")
		i.server.installed = slices.DeleteFunc(i.server.installed, func(in *installation) bool { return in == i.in })
		i.server.revoke(i.in)
		return nil
	})
}

// AddRepositories adds repositories to the installation, and sends the event.
func (i *Installation) AddRepositories(repos ...*Repository) error {
	return i.server.act(func() error {
		var added []*repository
		for _, r := range repos {
			added = append(added, r.repo)
		}
		i.in.repos = append(i.in.repos, added...)
		i.server.sendRepositories(i.in, "added", added, nil)
		return nil
	})
}

// RemoveRepository removes a repository from the installation, and sends the event.
func (i *Installation) RemoveRepository(r *Repository) error {
	return i.server.act(func() error {
		if i.in.repos == nil {
			return errors.New("remove a repository: the installation has all")
		}
		i.in.repos = slices.DeleteFunc(slices.Clone(i.in.repos), func(other *repository) bool { return other == r.repo })
		i.server.sendRepositories(i.in, "removed", nil, []*repository{r.repo})
		return nil
	})
}

// RevokeTokens makes all tokens of the installation invalid before they expire.
func (i *Installation) RevokeTokens() { i.server.locked(func() { i.server.revoke(i.in) }) }

// SetRemaining sets how many requests of this hour the installation has left. At 0 they are
// rejected.
func (i *Installation) SetRemaining(n int) { i.server.locked(func() { i.in.left = n }) }

func (s *Server) revoke(in *installation) {
	for _, c := range s.tokens {
		if c.installation == in {
			c.revoked = true
		}
	}
}

// repositories returns the repositories of an installation.
func (s *Server) repositories(in *installation) []*repository {
	var out []*repository
	for _, r := range s.repos {
		if in.covers(r) {
			out = append(out, r)
		}
	}
	return out
}

func (s *Server) installationBody(in *installation) map[string]any {
	selection := map[bool]string{true: "all", false: "selected"}[in.repos == nil]
	var suspended any
	if in.suspended {
		suspended = openapi.Moment
	}
	return map[string]any{
		"id": in.id, "account": s.userBody(in.account), "app_id": in.app.ID, "app_slug": in.app.Slug, "target_type": "User",
		"repository_selection": selection, "permissions": in.permissions, "events": in.app.opts.Events, "suspended_at": suspended,
		"html_url": fmt.Sprintf("%s/settings/installations/%d", s.WebURL, in.id), "created_at": openapi.Moment, "updated_at": openapi.Moment,
		"access_tokens_url": fmt.Sprintf("%sapp/installations/%d/access_tokens", s.URL, in.id),
		"repositories_url":  s.URL + "installation/repositories", "target_id": s.accounts[in.account],
	}
}

func (s *Server) listInstallations(q *query) answer {
	list := []any{}
	for _, in := range s.installed {
		if in.app == q.who.app {
			list = append(list, s.installationBody(in))
		}
	}
	return listed(s, q.r, "", list)
}

// installation returns the installation of a request's path, if it is the calling App's.
func (s *Server) installation(q *query) *installation {
	for _, in := range s.installed {
		if in.id == q.number("installation_id") && in.app == q.who.app {
			return in
		}
	}
	return nil
}

func (s *Server) getInstallation(q *query) answer {
	in := s.installation(q)
	if in == nil {
		return notFound()
	}
	return ok(s.installationBody(in))
}

func (s *Server) installationOf(q *query) answer {
	for _, in := range s.installed {
		if in.app == q.who.app && in.covers(q.repo) {
			return ok(s.installationBody(in))
		}
	}
	return notFound()
}

func (s *Server) listInstalled(q *query) answer {
	list := []any{}
	for _, r := range s.repositories(q.who.installation) {
		if s.sees(q.who, r) {
			list = append(list, s.repoBody(r, "read"))
		}
	}
	return listed(s, q.r, "repositories", list)
}

// userInstallations returns the installations with a repository that the user may read.
func (s *Server) userInstallations(q *query) answer {
	list := []any{}
	for _, in := range s.installed {
		if in.app == q.who.app && slices.ContainsFunc(s.repositories(in), func(r *repository) bool { return s.sees(q.who, r) }) {
			list = append(list, s.installationBody(in))
		}
	}
	return listed(s, q.r, "installations", list)
}

func (s *Server) userRepositories(q *query) answer {
	in := s.installation(q)
	if in == nil {
		return notFound()
	}
	list := []any{}
	for _, r := range s.repositories(in) {
		if s.sees(q.who, r) {
			list = append(list, s.repoBody(r, r.roleOf(q.who.login)))
		}
	}
	return listed(s, q.r, "repositories", list)
}

// count counts a request against an installation's rate limit, and reports whether none was left.
func (s *Server) count(who *caller) (spent bool, header http.Header) {
	if who.kind != asInstallation {
		return false, nil
	}
	in := who.installation
	if spent = in.left == 0; !spent {
		in.left--
	}
	return spent, http.Header{
		"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {fmt.Sprint(in.left)}, "X-Ratelimit-Used": {fmt.Sprint(5000 - in.left)},
		"X-Ratelimit-Reset": {fmt.Sprint(s.config.Now().Add(s.config.TokenLife).Unix())}, "X-Ratelimit-Resource": {"core"},
	}
}
