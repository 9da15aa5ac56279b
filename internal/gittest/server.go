package gittest

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Server serves the git repositories below a directory with git's http-backend. Like GitHub
// it allows requests for any commit and for partial clones.
type Server struct {
	// URL is the server's URL, without a slash at the end.
	URL string

	http     *httptest.Server
	mu       sync.Mutex
	requests []string
}

// NewServer serves the repositories below root. Clients need the token, if there is
// one. The caller must call Close.
func NewServer(root, token string) (*Server, error) {
	backend, err := Backend(root)
	if err != nil {
		return nil, err
	}
	s := &Server{}
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+user))
		s.mu.Unlock()
		if token != "" && password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "Repository not found.", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	s.URL = s.http.URL
	return s, nil
}

// execPath returns the directory of git's programs.
var execPath = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	return strings.TrimSpace(string(out)), err
})

// Backend returns a handler that serves the repositories below root.
func Backend(root string) (http.Handler, error) {
	programs, err := execPath()
	if err != nil {
		return nil, fmt.Errorf("find git's http-backend: %w", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(programs, "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_COUNT=2",
			"GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true",
			"GIT_CONFIG_KEY_1=uploadpack.allowFilter", "GIT_CONFIG_VALUE_1=true",
		},
	}, nil
}

// Close stops the server.
func (s *Server) Close() { s.http.Close() }

// Requests returns the requests so far, in order: method, path and user, if any.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}
