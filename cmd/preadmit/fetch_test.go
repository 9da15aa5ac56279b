package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

// elsewhere is a server with a git repository and a file, over HTTPS.
type elsewhere struct {
	t     *testing.T
	url   string
	flags []string // of commands that fetch
	store string
	git   *gittest.History
	asked int
	// secret is the authorization that /private.yaml requires.
	secret string
}

const remotePod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: remote\nspec:\n  containers:\n  - name: a\n    image: nginx:1\n"

func newElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	root := t.TempDir()
	h, err := gittest.NewHistory(filepath.Join(root, "org", "repo"), map[string]string{
		"base/kustomization.yaml": "resources: [pod.yaml]\n", "base/pod.yaml": remotePod,
	}, map[string]string{"base/pod.yaml": strings.ReplaceAll(remotePod, "nginx:1", "nginx:2")}, map[string]string{"evil.yaml": "x"})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := gittest.Backend(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &elsewhere{t: t, git: h, store: filepath.Join(t.TempDir(), "store")}
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked++
		switch authorized := w.secret != "" && r.Header.Get("Authorization") == w.secret; r.URL.Path {
		case "/private.yaml":
			if !authorized {
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(rw, strings.ReplaceAll(remotePod, "name: remote", "name: private"))
			return
		case "/file.yaml":
			_, _ = io.WriteString(rw, strings.ReplaceAll(remotePod, "name: remote", "name: file"))
			return
		}
		backend.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	w.flags = []string{"--ca-file", ca, "--private-host", strings.TrimPrefix(server.URL, "https://")}
	return w
}

// getenv returns the password of a test with credentials.
func (w *elsewhere) getenv(name string) string {
	if w.secret != "" && name == "PASSWORD" {
		return "sesame"
	}
	return ""
}

// run runs a command and returns its output, with URL in place of the server's URL.
func (w *elsewhere) run(code int, args ...string) string {
	w.t.Helper()
	var out bytes.Buffer
	args = append(args, "--artifact-dir", w.store)
	got := Main(w.t.Context(), args, cli.Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: w.getenv})
	text := strings.ReplaceAll(out.String(), w.url, "URL")
	if got != code {
		w.t.Errorf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, text)
	}
	return text
}

func (w *elsewhere) fetch(code int, args ...string) string {
	w.t.Helper()
	return w.run(code, append(append([]string{"fetch"}, args...), w.flags...)...)
}

// repository creates a git repository with a kustomization.
func (w *elsewhere) repository(kustomization string) *gittest.History {
	w.t.Helper()
	h := &gittest.History{Dir: w.t.TempDir()}
	if _, err := h.Git("init", "-q", "-b", "main", h.Dir); err != nil {
		w.t.Fatal(err)
	}
	w.commit(h, map[string]string{"app/kustomization.yaml": kustomization})
	return h
}

func (w *elsewhere) commit(h *gittest.History, files map[string]string) string {
	w.t.Helper()
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "URL", w.url)
	}
	commit, err := h.Commit(files)
	if err != nil {
		w.t.Fatal(err)
	}
	return commit
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") } // lines are wrapped
	for _, part := range parts {
		if !strings.Contains(words(text), words(part)) {
			t.Errorf("there is no %q in:\n%s", part, text)
		}
	}
}

// TestFetchAndScan fetches the remote base of a repository and scans it.
func TestFetchAndScan(t *testing.T) {
	w := newElsewhere(t)
	h := w.repository("resources:\n- URL/org/repo//base?ref=main\n- URL/file.yaml\n")
	has(t, w.run(0, "scan", h.Dir), "preadmit fetch gets it")
	has(t, w.fetch(1, h.Dir, "--check"), "missing   file URL/file.yaml: used at app/kustomization.yaml:3:3", "2 artifacts, 2 not as locked")
	has(t, w.fetch(0, h.Dir), "locked    git URL/org/repo, version main: main "+w.git.Base[:12], "2 artifacts, 0 failed")
	locked, err := os.ReadFile(filepath.Join(h.Dir, lock.FileName))
	if err != nil {
		t.Fatal(err)
	}
	asked := w.asked
	has(t, w.run(0, "scan", "--offline", h.Dir), "2 requests")
	has(t, w.run(0, "render", filepath.Join(h.Dir, "app")), "image: nginx:2", "name: file")
	has(t, w.run(0, "render", "--origin", filepath.Join(h.Dir, "app")), "(app/kustomization.yaml:2)")
	whole := func() string {
		text, _, _ := strings.Cut(w.run(0, "scan", "--offline", "--format", "json", h.Dir), `"durations":`)
		return text
	}
	if first := whole(); first != whole() || !strings.Contains(first, `"requests"`) {
		t.Error("two scans of one lock differ")
	}
	if w.asked != asked {
		t.Error("scanning reached the network")
	}
	has(t, w.fetch(0, h.Dir), "2 artifacts, 0 failed")
	if again, _ := os.ReadFile(filepath.Join(h.Dir, lock.FileName)); !bytes.Equal(again, locked) {
		t.Errorf("the lock was written anew:\n%s", again)
	}

	// The branch moves, but the lock stays the same until it is updated.
	if _, err := w.git.Git("branch", "-f", "other", w.git.Head); err != nil {
		t.Fatal(err)
	}
	if _, err := w.git.Git("update-ref", "refs/heads/main", w.git.Before); err != nil {
		t.Fatal(err)
	}
	has(t, w.fetch(0, h.Dir), "2 artifacts, 0 failed")
	has(t, w.fetch(1, h.Dir, "--check"), "moved     git URL/org/repo, version main: main "+w.git.Base[:12]+" is locked, it is main "+w.git.Before[:12]+" now")
	has(t, w.fetch(0, h.Dir, "--update="+w.url+"/file.yaml"), "2 artifacts, 0 failed")
	has(t, w.fetch(0, h.Dir, "--update"), "updated   git URL/org/repo, version main")
	has(t, w.run(0, "render", filepath.Join(h.Dir, "app")), "image: nginx:1")

	// If the store lacks the content, the message says how to get it.
	w.store = filepath.Join(t.TempDir(), "other")
	has(t, w.run(0, "scan", h.Dir), "it is not in the cache", "preadmit fetch gets it")
	has(t, w.run(0, append([]string{"scan", "--fetch", h.Dir}, w.flags...)...), "2 requests")

	// Artifacts that nothing needs any more are removed.
	w.commit(h, map[string]string{"app/kustomization.yaml": "resources:\n- URL/file.yaml\n"})
	has(t, w.fetch(1, h.Dir, "--check"), "unused    git URL/org/repo")
	has(t, w.fetch(0, h.Dir), "removed   git URL/org/repo", "1 artifact, 0 failed")
}

// TestFetchFails: an artifact that cannot be fetched is reported, and the others are locked.
func TestFetchFails(t *testing.T) {
	w := newElsewhere(t)
	h := w.repository("resources:\n- URL/file.yaml\n- URL/org/repo//base?ref=nowhere\n- https://127.0.0.1:1/a/b\n- http://example.com/a.yaml\n- git@example.com:a/b\n")
	has(t, w.fetch(3, h.Dir), "locked    file URL/file.yaml", `there is no branch or tag "nowhere"`, "used at app/kustomization.yaml:3:3",
		"an address of this host", "only https is fetched", "SSH", "5 artifacts, 4 failed", "4 artifacts could not be fetched")
	has(t, w.fetch(2, h.Dir, "--check", "--update"), "use either")
	if err := os.WriteFile(filepath.Join(h.Dir, lock.FileName), []byte("artifacts: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	has(t, w.fetch(2, h.Dir), lock.FileName+":1:")
	has(t, w.run(2, "scan", h.Dir), lock.FileName+":1:")
}

// TestScanOfChange: artifacts that a change adds are fetched only if the base allows them, and
// changes to the lock are ignored.
func TestScanOfChange(t *testing.T) {
	w := newElsewhere(t)
	h := w.repository("resources:\n- URL/org/repo//base?ref=" + w.git.Before + "\n")
	w.fetch(0, h.Dir)
	base := w.commit(h, nil)
	scan := func(code int, from, head string) string {
		t.Helper()
		return w.run(code, append([]string{"scan", "--fetch", "--base", from, "--head", head, h.Dir}, w.flags...)...)
	}

	text, _ := os.ReadFile(filepath.Join(h.Dir, lock.FileName))
	evil := w.commit(h, map[string]string{"app/kustomization.yaml": "resources:\n- URL/org/repo//base?ref=" + w.git.Head + "\n"})
	has(t, scan(3, base, evil), "the change adds it, and artifacts.allow in the configuration of the base does not allow its URL")

	w.fetch(0, h.Dir)
	locking := w.commit(h, nil)
	has(t, scan(3, base, locking), "the change adds it")

	// The same artifact with another content.
	if _, err := h.Git("reset", "-q", "--hard", base); err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(text), "digest: sha256:", "digest: sha256:0000", 1)
	forged = forged[:strings.Index(forged, "digest: sha256:")+len("digest: sha256:")+64] + "\n  size: 1\n"
	moved := w.commit(h, map[string]string{lock.FileName: forged, "app/more.yaml": remotePod, "app/kustomization.yaml": "nameSuffix: -x\nresources:\n- URL/org/repo//base?ref=" + w.git.Before + "\n"})
	has(t, scan(3, base, moved), "the change has another content for it")

	// The base has no lock but needs the artifact: the same commit and artifact are allowed.
	if _, err := h.Git("reset", "-q", "--hard", base); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(h.Dir, lock.FileName)); err != nil {
		t.Fatal(err)
	}
	without := w.commit(h, nil)
	prefixed := w.commit(h, map[string]string{"app/kustomization.yaml": "namePrefix: x-\nresources:\n- URL/org/repo//base?ref=" + w.git.Before + "\n"})
	has(t, scan(0, without, prefixed), "2 requests") // one deletes the old object

	// Allowed by the base.
	if _, err := h.Git("reset", "-q", "--hard", base); err != nil {
		t.Fatal(err)
	}
	allowing := w.commit(h, map[string]string{".preadmit.yaml": "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nartifacts:\n  allow: [\"URL/org/*\"]\n"})
	allowed := w.commit(h, map[string]string{"app/kustomization.yaml": "resources:\n- URL/org/repo//base?ref=" + w.git.Base + "\n"})
	has(t, scan(0, allowing, allowed), "1 request")
	has(t, w.run(0, append([]string{"scan", "--fetch", "--base", allowing, "--head", allowed, h.Dir}, w.flags...)...), "note: git URL/org/repo, version "+w.git.Base+" was fetched and is in no lock that counts: it is commit "+w.git.Base)
}

// TestFetchSources: units are built from sources in other repositories.
func TestFetchSources(t *testing.T) {
	w := newElsewhere(t)
	h := w.repository("resources: []\n")
	sync := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: 'https://example.com/own'}\n" +
		"---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec:\n  path: ./clusters/one\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n"
	unit := strings.NewReplacer("{url: 'https://example.com/own'}", "{url: URL/org/repo, ref: {branch: main}}", "name: flux-system,", "name: other,", "./clusters/one", "./base\n  targetNamespace: default", "name: flux-system}\n", "name: other}\n").Replace(sync)
	w.commit(h, map[string]string{"clusters/one/flux-system/gotk-sync.yaml": sync, "clusters/one/other.yaml": unit})
	has(t, w.run(0, "scan", h.Dir), "its source GitRepository/flux-system/other is not this repository but URL/org/repo, which is not fetched: preadmit fetch gets it")
	has(t, w.fetch(1, h.Dir, "--check"), "missing   git URL/org/repo, version refs/heads/main: used at clusters/one/other.yaml:")
	has(t, w.fetch(0, h.Dir), "locked    git URL/org/repo, version refs/heads/main: main "+w.git.Base[:12], "1 artifact, 0 failed")
	has(t, w.run(0, "tree", "--tree", h.Dir), "Kustomization/flux-system/other", "1 object")
	has(t, w.run(0, "render", "--tree", h.Dir, "Kustomization/flux-system/other"), "image: nginx:2")
	has(t, w.run(0, "render", "--tree", h.Dir, "--field", "spec.containers[0].image", "Kustomization/flux-system/other"), "clusters/one/other.yaml:")
	has(t, w.run(0, "lint", h.Dir), "no findings")
	if out := w.run(0, "scan", "--offline", h.Dir); strings.Contains(out, "is not this repository") {
		t.Errorf("the source is fetched, and the scan says:\n%s", out)
	}

	// A change of the revision is judged, with findings on the line that names the source.
	w.commit(h, map[string]string{"clusters/one/policy.yaml": noNginx1})
	if _, err := h.Git("checkout", "-q", "-b", "change"); err != nil {
		t.Fatal(err)
	}
	w.commit(h, map[string]string{"clusters/one/other.yaml": strings.Replace(unit, "branch: main", "commit: "+w.git.Before, 1)})
	has(t, w.run(3, "scan", "--offline", "--base", "main", "--head", "change", h.Dir), "the change adds it")
	has(t, w.fetch(0, h.Dir), "1 artifact, 0 failed")
	w.commit(h, map[string]string{"README.md": "locked"})
	out := w.run(1, "scan", "--offline", "--base", "main", h.Dir)
	if has(t, out, "4:61 denied: not nginx 1", "UPDATE Pod default/remote"); strings.Contains(out, "turned") {
		t.Errorf("the source counts as not judged:\n%s", out)
	}
}

const noNginx1 = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: images}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}
  validations:
  - expression: object.spec.containers.all(c, c.image != 'nginx:1')
    message: not nginx 1
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: images}
spec: {policyName: images, validationActions: [Deny]}
`
