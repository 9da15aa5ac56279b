package gittree

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/gittest"
)

// serveGit serves root; if token is not empty, it requires it.
func serveGit(t *testing.T, root, token string) *gittest.Server {
	t.Helper()
	g, err := gittest.NewServer(root, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// served returns the repository of history below a root to serve.
func served(t *testing.T) (root, dir string) {
	t.Helper()
	dir = history(t)
	return filepath.Dir(dir), dir
}

func TestFetch(t *testing.T) {
	root, dir := served(t)
	server := serveGit(t, root, "secret")
	remote := Remote{URL: server.URL + "/repo", Token: "secret"}
	into := filepath.Join(t.TempDir(), "fetched")
	c2, side := runGit(t, dir, "rev-parse", "main~1"), runGit(t, dir, "rev-parse", "side")

	r, err := Fetch(t.Context(), into, remote, c2)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, r, c2, "a/file.yaml"); got != "c2" {
		t.Errorf("c2 has %q", got)
	}
	if _, err := r.Commit(c2 + "~1"); err == nil {
		t.Error("the parent came as well: want depth 1")
	}
	if _, err := r.Commit(side); err == nil {
		t.Error("there is a commit that nobody asked for")
	}
	// Fetch another commit into the same repository.
	if r, err = Fetch(t.Context(), into, remote, side, side); err != nil {
		t.Fatal(err)
	}
	if got := content(t, r, side, "a/file.yaml") + content(t, r, c2, "a/file.yaml"); got != "sidec2" {
		t.Errorf("both have %q", got)
	}
	for _, asked := range server.Requests() {
		if !strings.HasSuffix(asked, " x-access-token") {
			t.Errorf("asked without the token: %s", asked)
		}
	}
}

func TestFetchHistory(t *testing.T) {
	root, dir := served(t)
	remote := Remote{URL: serveGit(t, root, "").URL + "/repo"}
	main, side := runGit(t, dir, "rev-parse", "main"), runGit(t, dir, "rev-parse", "side")
	r, err := FetchHistory(t.Context(), t.TempDir(), remote, main, side)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := r.Commit(main)
	b, errB := r.Commit(side)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	base, err := r.MergeBase(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if want := runGit(t, dir, "merge-base", main, side); base.Hash() != want {
		t.Errorf("merge base %s, want %s", base.Hash(), want)
	}
	if _, err := base.FS().Open("top.yaml"); err == nil {
		t.Error("files came as well: want commits only")
	}
}

func TestReferences(t *testing.T) {
	root, dir := served(t)
	side := runGit(t, dir, "rev-parse", "side")
	runGit(t, dir, "update-ref", "refs/pull/7/head", side)
	refs, err := Remote{URL: serveGit(t, root, "").URL + "/repo"}.References(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if refs["refs/pull/7/head"] != side || refs["refs/heads/main"] != runGit(t, dir, "rev-parse", "main") {
		t.Errorf("references %v", refs)
	}
}

func TestFetchRefuses(t *testing.T) {
	root, dir := served(t)
	hash := runGit(t, dir, "rev-parse", "main")
	server := serveGit(t, root, "secret")
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	target := serveGit(t, root, "secret")
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}))
	defer redirecting.Close()

	tests := []struct {
		name, url, token, hash, want string
	}{
		{"no token", server.URL + "/repo", "", hash, "contents: read"},
		{"wrong token", server.URL + "/repo", "other", hash, "contents: read"},
		{"no repository", server.URL + "/none", "secret", hash, "contents: read"},
		{"no commit", server.URL + "/repo", "secret", strings.Repeat("1", 40), "not our ref"},
		{"no hash", server.URL + "/repo", "secret", "main", `"main" is no full object name`},
		{"a redirect", redirecting.URL + "/repo", "secret", hash, "redirect"},
		{"a file", "file://" + dir, "", hash, "want a URL like https://"},
		{"a path", dir, "", hash, "want a URL like https://"},
		{"credentials", strings.Replace(server.URL, "://", "://u:p@", 1) + "/repo", "", hash, "without credentials"},
		{"no git", other.URL + "/repo", "", hash, "contents: read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Fetch(t.Context(), t.TempDir(), Remote{URL: test.url, Token: test.token}, test.hash)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if err != nil && test.token != "" && strings.Contains(err.Error(), test.token) {
				t.Errorf("error %v has the token", err)
			}
		})
	}
	if len(target.Requests()) > 0 {
		t.Errorf("the redirect was followed: %q", target.Requests())
	}
}

// TestFetchHistoryNeedsPartialClones checks the error for a server that does not support partial clones.
func TestFetchHistoryNeedsPartialClones(t *testing.T) {
	offer := "001e# service=git-upload-pack\n0000" + packet(strings.Repeat("1", 40)+" HEAD\x00ofs-delta shallow\n") + "0000"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, offer)
	}))
	defer server.Close()
	_, err := FetchHistory(t.Context(), t.TempDir(), Remote{URL: server.URL}, strings.Repeat("1", 40))
	if err == nil || !strings.Contains(err.Error(), `does not support "filter"`) {
		t.Errorf("error %v", err)
	}
}

func packet(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }

func TestPartial(t *testing.T) {
	dir := history(t)
	if open(t, dir).Partial() {
		t.Error("a whole repository is called partial")
	}
	runGit(t, dir, "config", "remote.origin.promisor", "true")
	if !open(t, dir).Partial() {
		t.Error("a repository with a promisor is called whole")
	}
}

// TestFetchIsPatient checks that requests are repeated for a server that fails for a moment, but not forever.
func TestFetchIsPatient(t *testing.T) {
	root, dir := served(t)
	hash := runGit(t, dir, "rev-parse", "main")
	for _, test := range []struct {
		failures int // of each request
		fails    bool
	}{{2, false}, {3, true}} {
		flaky := &flaky{failures: test.failures, asked: map[string]int{}}
		remote := Remote{URL: serveGit(t, root, "").URL + "/repo", Transport: flaky, pause: time.Millisecond}
		_, err := Fetch(t.Context(), t.TempDir(), remote, hash)
		if (err != nil) != test.fails {
			t.Errorf("%d failures: error %v", test.failures, err)
		}
		for request, n := range flaky.asked {
			if n != 3 {
				t.Errorf("%d failures: %s was asked %d times", test.failures, request, n)
			}
		}
	}
}

// flaky fails the first requests of each kind, alternately with and without an answer.
type flaky struct {
	failures int
	asked    map[string]int
}

func (f *flaky) RoundTrip(req *http.Request) (*http.Response, error) {
	key := req.Method + " " + req.URL.Path
	f.asked[key]++
	switch {
	case f.asked[key] > f.failures:
		return http.DefaultTransport.RoundTrip(req)
	case f.asked[key] == 1:
		return nil, errors.New("connection reset")
	}
	return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
}

// TestFetchLeavesConfiguration checks that neither the user's git configuration nor another repository's influences
// where a fetch goes.
func TestFetchLeavesConfiguration(t *testing.T) {
	root, dir := served(t)
	home := t.TempDir()
	text := "[url \"http://127.0.0.1:1/\"]\n\tinsteadOf = http://\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	remote := Remote{URL: serveGit(t, root, "").URL + "/repo"}
	if _, err := Fetch(t.Context(), t.TempDir(), remote, runGit(t, dir, "rev-parse", "main")); err != nil {
		t.Error(err)
	}
}
