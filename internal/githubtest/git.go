package githubtest

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

// Git serves the git repositories below a directory by git's own http-backend, as the
// git side of GitHub: any commit may be asked for, and partial clones are possible.
type Git struct {
	// URL is the server's, without a slash at the end.
	URL string

	http  *httptest.Server
	mu    sync.Mutex
	asked []string
}

// NewGit serves the directory root. With a token, only who gives it may read. Close
// ends the server.
func NewGit(root, token string) (*Git, error) {
	backend, err := gitBackend(root)
	if err != nil {
		return nil, err
	}
	g := &Git{}
	g.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		g.mu.Lock()
		g.asked = append(g.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+user))
		g.mu.Unlock()
		if token != "" && password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "Repository not found.", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	g.URL = g.http.URL
	return g, nil
}

// gitBackend serves the repositories below root.
func gitBackend(root string) (http.Handler, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("find git's http-backend: %w", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_COUNT=2",
			"GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true",
			"GIT_CONFIG_KEY_1=uploadpack.allowFilter", "GIT_CONFIG_VALUE_1=true",
		},
	}, nil
}

// Close ends the server.
func (g *Git) Close() { g.http.Close() }

// Requests are all that came, in order: method, path and user, if one was named.
func (g *Git) Requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.asked...)
}
