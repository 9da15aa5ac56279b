package githubtest

import (
	"net/http"
	"path/filepath"
	"strings"
)

// serveGit serves a repository to clients that may read it, with the tokens of the API.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	owner, name, _ := strings.Cut(name, "/")
	dir, status := s.mayClone(r, owner, name)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
	}
	if status != http.StatusOK {
		http.Error(w, "Repository not found.", status)
		return
	}
	below, err := filepath.Rel(s.dir, dir)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.URL.Path = "/" + filepath.ToSlash(below) + "/" + rest
	s.git.ServeHTTP(w, r)
}

// mayClone returns the directory of a repository, or the status of the error.
func (s *Server) mayClone(r *http.Request, owner, name string) (dir string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo := s.repository(owner, name)
	who, _ := s.caller(r)
	by := ""
	if who != nil {
		by = who.login
	}
	switch {
	case strings.Contains(r.URL.Path, "git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack":
		status = http.StatusForbidden
	case who == nil:
		status = http.StatusUnauthorized
	case repo == nil || repo.dir == "" || !s.sees(who, repo):
		status = http.StatusNotFound
		if who.kind == nobody {
			status = http.StatusUnauthorized // git asks for a password
		}
	case who.kind == asInstallation && !who.granted("contents: read"):
		status = http.StatusForbidden
	default:
		dir, status = repo.dir, http.StatusOK
	}
	s.log = append(s.log, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Status: status, Header: r.Header.Clone(), By: by})
	return dir, status
}
