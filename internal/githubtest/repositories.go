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

// RepositoryOptions describe a repository.
type RepositoryOptions struct {
	Owner, Name string
	Private     bool
	// DefaultBranch is "main" when empty.
	DefaultBranch string
	// NoCodeScanning refuses SARIF as a repository without it does.
	NoCodeScanning bool
	// Files are those of the first commit.
	Files Files
}

// Repository is a repository of a Server.
type Repository struct {
	server *Server
	repo   *repository
}

// repository is a repository under the server's lock.
type repository struct {
	RepositoryOptions
	id      int64
	dir     string // "" without git
	parent  *repository
	deleted bool
	roles   map[string]string
	pulls   []*pull
	commits int
	// known are the names of commits that are there.
	known map[string]bool
}

func (r *repository) full() string { return r.Owner + "/" + r.Name }

// roleOf is what a user may do in a repository: admin, maintain, write, triage, read or
// "" for nothing.
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

// repository finds one by its name, which has no case.
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

// AddRepository makes a repository with git. One of the name of the Config's gets git and
// loses its pull request.
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

// Fork makes a fork of a repository, with its branches.
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

// Delete makes a repository vanish. Pull requests from it stay, with a null repository.
func (r *Repository) Delete() { r.server.locked(func() { r.repo.deleted = true }) }

// Rename returns a repository another name; its ID stays.
func (r *Repository) Rename(name string) { r.server.locked(func() { r.repo.Name = name }) }

// SetDefaultBranch makes another branch the default one, as renaming it does too.
func (r *Repository) SetDefaultBranch(branch string) {
	r.server.locked(func() { r.repo.DefaultBranch = branch })
}

// SetRole says what a user may do: admin, maintain, write, triage, read, or "" for what
// everybody may.
func (r *Repository) SetRole(login, role string) {
	r.server.locked(func() { r.repo.roles[login] = role })
}

// ID is GitHub's number of the repository.
func (r *Repository) ID() int64 { return r.repo.id }

// Owner is the account's login.
func (r *Repository) Owner() string { return r.repo.Owner }

// Name is that without the owner.
func (r *Repository) Name() string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.repo.Name
}

// Dir is the bare git repository. Branches are to be moved with SetBranch.
func (r *Repository) Dir() string { return r.repo.dir }

// CloneURL is where git finds it.
func (r *Repository) CloneURL() string {
	return r.server.WebURL + "/" + r.repo.Owner + "/" + r.Name() + ".git"
}

// repoBody is a repository in GitHub's words, as seen by a user with a role.
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

// permissionOf answers what a user may do in a repository.
func (s *Server) permissionOf(q *query) answer {
	login := q.params["username"]
	if login == "nobody-of-that-name" {
		return message(http.StatusNotFound, login+" is not a user")
	}
	role := cmp.Or(q.repo.roleOf(login), "none")
	// The old field knows no finer roles.
	permission := cmp.Or(map[string]string{"maintain": "write", "triage": "read"}[role], role)
	user := s.userBody(login)
	return ok(map[string]any{"permission": permission, "role_name": role, "user": user})
}

// Files are the contents of files by their paths.
type Files map[string]string

// Removed in place of a content removes the file.
const Removed = "\x00removed"
