package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
	"github.com/preadmit/preadmit/internal/gittest"
)

// RepositoryOptions are the properties of a repository.
type RepositoryOptions struct {
	Owner, Name string
	Private     bool
	// DefaultBranch is "main" when empty.
	DefaultBranch string
	// NoCodeScanning rejects SARIF like a repository without code scanning.
	NoCodeScanning bool
	// Files are the files of the first commit.
	Files Files
}

// Repository is a repository of a Server.
type Repository struct {
	server *Server
	repo   *repository
}

// repository is the state of a repository. The server's lock guards it.
type repository struct {
	RepositoryOptions
	id      int64
	dir     string // "" without git
	parent  *repository
	deleted bool
	roles   map[string]string
	pulls   []*pull
	commits int
	// known has the names of existing commits.
	known map[string]bool
}

func (r *repository) full() string { return r.Owner + "/" + r.Name }

// roleOf returns a user's role in a repository: admin, maintain, write, triage, read, or "" for
// none.
func (r *repository) roleOf(login string) string {
	switch {
	case strings.EqualFold(login, r.Owner):
		return "admin"
	case r.roles[login] != "":
		return r.roles[login]
	case r.Private:
		return ""
	}
	return "read"
}

func (s *Server) newRepository(o RepositoryOptions) *repository {
	o.DefaultBranch = cmp.Or(o.DefaultBranch, "main")
	r := &repository{RepositoryOptions: o, id: s.name(), roles: map[string]string{}}
	s.repos = append(s.repos, r)
	return r
}

// repository returns a repository by its name, ignoring case.
func (s *Server) repository(owner, name string) *repository {
	i := slices.IndexFunc(s.repos, func(r *repository) bool {
		return !r.deleted && strings.EqualFold(r.full(), owner+"/"+name)
	})
	if i < 0 {
		return nil
	}
	return s.repos[i]
}

func (s *Server) gitDir(r *repository) string { return filepath.Join(s.dir, r.Owner, r.Name+".git") }

// AddRepository creates a repository with git. If it has the name of Config, that repository gets
// git and loses its pull request.
func (s *Server) AddRepository(o RepositoryOptions) (*Repository, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(o.Owner, o.Name)
	switch {
	case r == nil:
		r = s.newRepository(o)
	case r.dir != "":
		return nil, fmt.Errorf("make repository %s: there is one", r.full())
	default:
		o.DefaultBranch = cmp.Or(o.DefaultBranch, "main")
		r.RepositoryOptions, r.pulls = o, nil
	}
	r.dir = s.gitDir(r)
	if err := gittest.InitBare(r.dir, r.DefaultBranch); err != nil {
		return nil, err
	}
	sha, err := r.commit("", o.Files)
	if err != nil {
		return nil, err
	}
	return &Repository{s, r}, r.setBranch(r.DefaultBranch, sha)
}

// Fork creates a fork of a repository, with its branches.
func (r *Repository) Fork(owner string) (*Repository, error) {
	s := r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	o := r.repo.RepositoryOptions
	o.Owner = owner
	if s.repository(o.Owner, o.Name) != nil {
		return nil, fmt.Errorf("fork %s: %s has one of the name", r.repo.full(), owner)
	}
	fork := s.newRepository(o)
	fork.parent, fork.dir = r.repo, s.gitDir(fork)
	_, err := gittest.Run("", "", nil, "clone", "-q", "--template=", "--bare", r.repo.dir, fork.dir)
	return &Repository{s, fork}, err
}

// Delete deletes a repository. Pull requests from it stay, with a null repository.
func (r *Repository) Delete() { r.server.locked(func() { r.repo.deleted = true }) }

// Rename changes the name of a repository; its ID stays.
func (r *Repository) Rename(name string) { r.server.locked(func() { r.repo.Name = name }) }

// SetDefaultBranch changes the default branch, without an event.
func (r *Repository) SetDefaultBranch(branch string) {
	r.server.locked(func() { r.repo.DefaultBranch = branch })
}

// SetRole sets a user's role: admin, maintain, write, triage, read, or "" for the default
// role.
func (r *Repository) SetRole(login, role string) {
	r.server.locked(func() { r.repo.roles[login] = role })
}

// ID returns GitHub's ID of the repository.
func (r *Repository) ID() int64 { return r.repo.id }

// Owner returns the login of the account.
func (r *Repository) Owner() string { return r.repo.Owner }

// Name returns the name without the owner.
func (r *Repository) Name() string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.repo.Name
}

// Dir returns the directory of the bare git repository. Move its branches with SetBranch only.
func (r *Repository) Dir() string { return r.repo.dir }

// CloneURL returns the URL for git.
func (r *Repository) CloneURL() string {
	return r.server.WebURL + "/" + r.repo.Owner + "/" + r.Name() + ".git"
}

// repoBody returns the JSON body of a repository, for a user with a role.
func (s *Server) repoBody(r *repository, role string) map[string]any {
	visibility := map[bool]string{true: "private", false: "public"}[r.Private]
	body := map[string]any{
		"id": r.id, "node_id": fmt.Sprintf("R_%d", r.id), "name": r.Name, "full_name": r.full(), "owner": s.userBody(r.Owner),
		"private": r.Private, "visibility": visibility, "fork": r.parent != nil, "default_branch": r.DefaultBranch,
		"url": s.URL + "repos/" + r.full(), "html_url": s.WebURL + "/" + r.full(), "clone_url": s.WebURL + "/" + r.full() + ".git",
		"created_at": openapi.Moment, "updated_at": openapi.Moment, "pushed_at": openapi.Moment, "description": nil, "archived": false, "disabled": false,
		"permissions": map[string]any{
			"admin": role == "admin", "maintain": atLeast(role, "maintain"), "push": atLeast(role, "write"),
			"triage": atLeast(role, "triage"), "pull": role != "",
		},
	}
	return body
}

func (s *Server) getRepository(q *query) answer {
	role := "read"
	if q.who.kind == asUser {
		role = q.repo.roleOf(q.who.login)
	}
	return ok(s.repoBody(q.repo, role))
}

// permissionOf handles requests for a user's permission in a repository.
func (s *Server) permissionOf(q *query) answer {
	login := q.params["username"]
	if login == "nobody-of-that-name" {
		return message(http.StatusNotFound, login+" is not a user")
	}
	role := cmp.Or(q.repo.roleOf(login), "none")
	// The old field has fewer levels.
	permission := cmp.Or(map[string]string{"maintain": "write", "triage": "read"}[role], role)
	user := s.userBody(login)
	return ok(map[string]any{"permission": permission, "role_name": role, "user": user})
}

// Files are the contents of files by their paths.
type Files map[string]string

// Removed as a content removes the file.
const Removed = "\x00removed"
