package service

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// secret is a Secret. Pages show that it changes, but not its values.
func secret(value string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: database, namespace: shop}\nstringData:\n  password: " + value + "\n"
}

// visitor is an HTTP client of a viewer of the built service.
type visitor struct {
	*env
	r      *replica
	client *http.Client
}

// visits logs in through GitHub's page.
func (w *env) visits(r *replica, login string) *visitor {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	w.must(err)
	v := &visitor{w, r, &http.Client{Jar: jar, Timeout: 30 * time.Second}}
	w.hub.SetViewer(login)
	v.wants("GET", "/login?return=/", 200, "Scans")
	return v
}

// asks sends a request. header has names and values in turn.
func (v *visitor) asks(method, path, body string, header ...string) (*http.Response, string) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.r.url+path, strings.NewReader(body))
	v.must(err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := v.client.Do(req)
	v.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	v.must(err)
	return resp, string(text)
}

// wants sends a request and checks the status and the parts of the response. A part with the
// prefix "!" must be absent.
func (v *visitor) wants(method, path string, status int, parts ...string) {
	v.t.Helper()
	resp, text := v.asks(method, path, "")
	if resp.StatusCode != status {
		v.t.Errorf("%s %s answers %d, want %d: %.300s", method, path, resp.StatusCode, status, text)
	}
	for _, part := range parts {
		if not, ok := strings.CutPrefix(part, "!"); ok == strings.Contains(text, not) {
			v.t.Errorf("%s %s: want %q in %.3000s", method, path, part, text)
		}
	}
}

// pageOf returns the path of the scan that a commit's check run links to.
func (w *env) pageOf(r *replica, head string) string {
	w.t.Helper()
	for _, c := range w.hub.CheckRuns() {
		if path, ok := strings.CutPrefix(c.DetailsURL, r.url); ok && c.HeadSHA == head {
			return path
		}
	}
	w.t.Fatalf("no check run of %s links to a page", head)
	return ""
}

// changesASecret opens a pull request that changes a Secret and is denied, with markup in its
// title.
func (w *env) changesASecret() (head string) {
	w.must(second(w.shop.Push("main", githubtest.Files{"app/secret.yaml": secret("hunter2-before")})))
	head, err := w.shop.Push("hostile", githubtest.Files{"app/secret.yaml": secret("hunter2-after"), "app/new.yaml": configMap("new", "deny")})
	w.must(err)
	w.must(second(w.shop.OpenPull(githubtest.PullOptions{Head: "hostile", Title: "<script>alert(1)</script> \u202e\x1b[31m" + strings.Repeat("long ", 50)})))
	return head
}

// TestPagesOfTheProgram: the built service shows a scan, without values of Secrets, to users
// who may read the repository, until they log out.
func TestPagesOfTheProgram(t *testing.T) {
	w := newEnv(t)
	w.shop.SetRole("alice", "write")
	r := w.start(t.TempDir(), nil)
	head := w.changesASecret()
	w.judged(head, "failure", "1 denied")
	w.eventually("jobs", r.busy) // the scan ends after its check run is complete
	path := w.pageOf(r, head)

	stranger := &visitor{w, r, &http.Client{Timeout: 30 * time.Second}}
	for _, page := range []string{"/", path, path + "/report.json", "/repos/octo/shop", "/queue"} {
		stranger.wants("GET", page, 401, "Log in to see this", "!hunter2", "!database")
	}
	alice := w.visits(r, "alice")
	masked := []string{"!hunter2", "!aHVudGVyMi", "!\u202e", "!\x1b"}
	alice.wants("GET", path, 200, append(masked, "1 denied", "the key deny is not for us", `class="source"`, `class="diff"`, "Secret shop/database", "&lt;script&gt;", "!<script>alert", "Scan again")...)
	for _, page := range []string{path + "/report.json", path + "/report.sarif", "/", "/repos/octo/shop", "/repos/octo/shop/pulls/1"} {
		alice.wants("GET", page, 200, masked...)
	}
	alice.wants("GET", "/queue", 403, "For operators only")
	if resp, _ := alice.asks("POST", path+"/rescan", "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != 403 {
		t.Errorf("another site's form is answered with %d", resp.StatusCode)
	}
	resp, _ := alice.asks("GET", path, "")
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	thief := &visitor{w, r, &http.Client{Jar: copyOfCookies(w, alice), Timeout: 30 * time.Second}}
	thief.wants("GET", path, 200)
	alice.wants("POST", "/logout", 200, "You are logged out", "!could not be ended")
	thief.wants("GET", path, 401)
	for _, token := range w.hub.Tokens() {
		if strings.Contains(r.log.String(), token) {
			t.Errorf("the log has the token %s", token)
		}
	}
}

func copyOfCookies(w *env, of *visitor) http.CookieJar {
	jar, err := cookiejar.New(nil)
	w.must(err)
	req, err := http.NewRequest(http.MethodGet, of.r.url, nil)
	w.must(err)
	jar.SetCookies(req.URL, of.client.Jar.Cookies(req.URL))
	return jar
}

// TestSpoofedViewer: the header by which a proxy names the viewer is ignored from other addresses.
func TestSpoofedViewer(t *testing.T) {
	w := newEnv(t)
	o := behindProxy()
	o["PAGES_TRUSTED_PROXIES"] = "10.0.0.0/8"
	r := w.start(t.TempDir(), o)
	v := &visitor{w, r, http.DefaultClient}
	for _, header := range [][]string{{viewerHeader, "alice"}, {viewerHeader, "alice", "X-Forwarded-For", "10.0.0.1", "X-Real-IP", "10.0.0.1", "Forwarded", "for=10.0.0.1"}} {
		if resp, text := v.asks("GET", "/", "", header...); resp.StatusCode != 403 || !strings.Contains(text, "Not by way of the proxy") {
			t.Errorf("%v: %d %s", header, resp.StatusCode, text)
		}
	}
}

// TestAPIOfTheProgram: another system starts a scan, follows it and reads its report.
func TestAPIOfTheProgram(t *testing.T) {
	w := newEnv(t)
	config := filepath.Join(t.TempDir(), "serve.yaml")
	w.write(config, fmt.Sprintf("api:\n  tokens:\n    - name: ci\n      sha256: %x\n      repositories: [octo/shop]\n", sha256.Sum256([]byte("the-token"))))
	r := w.start(t.TempDir(), options{"--config": config, "RECONCILE_EVERY": "0"})
	w.app.SetWebhook("", "") // scans are started through the API only
	number := w.pull(w.shop, "new", "deny")
	v := &visitor{w, r, http.DefaultClient}
	start := func(token, repository string) (*http.Response, string) {
		return v.asks("POST", "/api/v1/scans", fmt.Sprintf(`{"repository":%q,"pull":%d}`, repository, number), "Authorization", "Bearer "+token, "Content-Type", "application/json")
	}
	for _, refused := range []struct {
		token, repository string
		status            int
	}{{"wrong", "octo/shop", 401}, {"the-token", "octo/other", 403}} {
		if resp, text := start(refused.token, refused.repository); resp.StatusCode != refused.status {
			t.Errorf("%+v: %d %s", refused, resp.StatusCode, text)
		}
	}
	resp, text := start("the-token", "octo/shop")
	if resp.StatusCode != 202 {
		t.Fatalf("the answer is %d %s", resp.StatusCode, text)
	}
	at := strings.TrimPrefix(resp.Header.Get("Location"), r.url)
	var scan struct {
		State, Conclusion string
		Counts            struct{ Denied int }
	}
	w.eventually("the scan", func() []string {
		_, text := v.asks("GET", at, "", "Authorization", "Bearer the-token")
		w.must(json.Unmarshal([]byte(text), &scan))
		return []string{scan.State, scan.Conclusion, fmt.Sprint(scan.Counts.Denied)}
	}, "completed", "failure", "1")
	if resp, text := v.asks("GET", at+"/report", "", "Authorization", "Bearer the-token"); resp.StatusCode != 200 || !strings.Contains(text, "the key deny is not for us") {
		t.Errorf("the report is %d %.300s", resp.StatusCode, text)
	}
	w.judged(w.shop.Tip("new"), "failure", "1 denied")
}
