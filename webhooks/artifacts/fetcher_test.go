package artifacts

import (
	"context"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/outside"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// world is a host with files, one of which needs credentials, and a fetcher.
type world struct {
	*outside.World
	t      *testing.T
	config Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: outside.New(), t: t, config: Config{Dir: filepath.Join(t.TempDir(), "artifacts")}}
	for _, name := range []string{"a", "b", "c"} {
		w.AddFile("files.example.com", "/"+name+".yaml", []byte("content of "+name))
	}
	w.AddGit("private.example.com", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "bot" || password != "secret" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = rw.Write([]byte("private"))
	}))
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.CA)
	w.config.Options = fetch.Options{RootCAs: pool, Dial: w.Dial}
	return w
}

func file(url string) artifact.Artifact { return artifact.Artifact{Kind: artifact.File, URL: url} }

// lock returns a lock of files with their current content.
func (w *world) lock(credentials *fetch.Credentials, urls ...string) string {
	w.t.Helper()
	l, opts := &lock.Lock{}, w.config.Options
	opts.Credentials = credentials
	client := fetch.New(store.Open(w.t.TempDir()), opts)
	for _, url := range urls {
		pin, err := client.Resolve(context.Background(), file(url))
		if err != nil {
			w.t.Fatal(err)
		}
		l.Set(file(url), pin)
	}
	return string(l.Encode())
}

// request returns a change from some files to others.
func (w *world) request(base, head map[string]string) jailed.Request {
	w.t.Helper()
	h := &gittest.History{Dir: w.t.TempDir()}
	_, err := h.Git("init", "-q", "-b", "main", h.Dir)
	r := jailed.Request{Repository: h.Dir, Owner: "octo"}
	if err == nil {
		r.Base, err = h.Commit(base)
	}
	if err == nil {
		r.Head, err = h.Commit(head)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// fetch fetches a file for a scan, and returns the outcome and the requests.
func (w *world) fetch(f *Fetcher, r jailed.Request, base bool, url string) (jailed.Fetched, string) {
	w.t.Helper()
	before := len(w.Requests())
	g, there, err := f.Begin(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer g.End()
	l := jailed.Lack{Base: base, Artifact: file(url)}
	var got jailed.Fetched
	for _, each := range there {
		if each.Lack == l {
			got = each
		}
	}
	if got.Pin.Digest == "" {
		got = g.Fetch(context.Background(), []jailed.Lack{l})[0]
	}
	if got.Why == "" && !store.Open(g.Dir()).Has(got.Pin.Digest) {
		w.t.Errorf("%s is said to be there, and is not", url)
	}
	return got, strings.Join(w.Requests()[before:], "; ")
}

const allowing = "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nartifacts: {allow: ['https://files.example.com/c*']}\n"

// TestRules checks that only artifacts of the base are fetched, whatever a scan's process requests.
func TestRules(t *testing.T) {
	w := newWorld(t)
	const a, b, c = "https://files.example.com/a.yaml", "https://files.example.com/b.yaml", "https://files.example.com/c.yaml"
	locked := w.lock(nil, a)
	moved := strings.ReplaceAll(w.lock(nil, b), "/b.yaml", "/a.yaml")
	base := map[string]string{lock.FileName: locked, ".preadmit.yaml": allowing}
	for _, test := range []struct {
		name       string
		base, head map[string]string
		of         bool // for the base's tree
		url, why   string
	}{
		{"locked", base, nil, false, a, ""},
		{"locked, for the base", base, nil, true, a, ""},
		{"allowed", base, nil, false, c, ""},
		{"allowed, for the base", base, nil, true, c, ""},
		{"in no lock", base, nil, false, b, "does not allow the URL"},
		{"in no lock, for the base", base, nil, true, b, "does not allow the URL"},
		{"nothing at all", map[string]string{"x": "y"}, nil, false, a, "does not allow the URL"},
		{"locked by the change", base, map[string]string{lock.FileName: w.lock(nil, a, b)}, false, b, "does not allow the URL"},
		{"allowed by the change", map[string]string{lock.FileName: locked}, map[string]string{".preadmit.yaml": allowing}, false, c, "does not allow the URL"},
		{"moved by the change", base, map[string]string{lock.FileName: moved}, false, a, "the change has another content for it"},
		{"moved by the change, for the base", base, map[string]string{lock.FileName: moved}, true, a, ""},
		{"allowed, with a wrong lock", base, map[string]string{lock.FileName: strings.ReplaceAll(locked, "/a.yaml", "/c.yaml")}, false, c, "the change locks sha256:"},
		{"not there", base, nil, false, "https://files.example.com/c", "404"},
		{"not on HTTPS", base, nil, false, "http://files.example.com/c.yaml", "does not allow the URL"},
		{"lock with a mistake", map[string]string{lock.FileName: "a: b\n"}, nil, false, a, lock.FileName},
		{"lock that is large", map[string]string{lock.FileName: locked + strings.Repeat("# long\n", maxLock/7+1)}, nil, false, a, "fetches nothing by it"},
		{"configuration with a mistake", map[string]string{lock.FileName: locked, ".preadmit.yaml": "a: b\n"}, nil, false, a, ".preadmit.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.t = t
			w.config.Dir = t.TempDir()
			got, asked := w.fetch(New(w.config), w.request(test.base, test.head), test.of, test.url)
			if (got.Why == "") != (test.why == "") || !strings.Contains(got.Why, test.why) {
				t.Errorf("%q, want %q", got.Why, test.why)
			}
			if refused := test.why != "" && test.why != "404" && !strings.HasPrefix(test.why, "the change locks"); refused && asked != "" {
				t.Errorf("it is refused, and was asked for: %s", asked)
			}
		})
	}
}

// TestCredentials checks that credentials are used only for the repositories of their owners, and that
// what was fetched with them is for nobody else, even if the digest is known.
func TestCredentials(t *testing.T) {
	w := newWorld(t)
	getenv := func(string) string { return "secret" }
	own, err := fetch.ParseCredentials("c", []byte("hosts: [{host: private.example.com, username: bot, passwordEnv: P}]"), getenv)
	if err != nil {
		t.Fatal(err)
	}
	const url = "https://private.example.com/a"
	r := w.request(map[string]string{lock.FileName: w.lock(own, url)}, nil)
	w.config.Credentials, err = fetch.ParseOwnedCredentials("c", []byte("hosts: [{host: private.example.com, owners: [Octo], username: bot, passwordEnv: P}]"), getenv)
	if err != nil {
		t.Fatal(err)
	}
	f := New(w.config)
	if got, _ := w.fetch(f, r, false, url); got.Why != "" {
		t.Error(got.Why)
	}
	r.Owner = "mallory"
	if got, _ := w.fetch(f, r, false, url); !strings.Contains(got.Why, "401") {
		t.Errorf("another owner got %+v", got)
	}
	for _, text := range []string{
		"hosts: [{host: a.example.com, username: bot, passwordEnv: P}]",
		"hosts: [{host: a.example.com, owners: [o], username: bot, passwordEnv: P}, {host: A.example.com, owners: [O], tokenEnv: T}]",
	} {
		if _, err := fetch.ParseOwnedCredentials("c", []byte(text), getenv); err == nil || !strings.Contains(err.Error(), "owners") && !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestBounds checks that the directory is reduced to its size, and that fetching has a timeout.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	const a, b = "https://files.example.com/a.yaml", "https://files.example.com/b.yaml"
	r := w.request(map[string]string{lock.FileName: w.lock(nil, a, b)}, nil)
	w.config.Size = 30
	f := New(w.config)
	for _, url := range []string{a, b} {
		if got, _ := w.fetch(f, r, false, url); got.Why != "" {
			t.Error(got.Why)
		}
	}
	kept, err := filepath.Glob(filepath.Join(w.config.Dir, "??", "*"))
	if err != nil || len(kept) != 2 { // 12 bytes each
		t.Errorf("kept %v, %v", kept, err)
	}
	f.Size = 12
	if got, _ := w.fetch(f, w.request(map[string]string{".preadmit.yaml": allowing}, nil), false, "https://files.example.com/c.yaml"); !strings.Contains(got.Why, "more than") {
		t.Errorf("above the share of a scan: %+v", got)
	}
	if kept, _ = filepath.Glob(filepath.Join(w.config.Dir, "??", "*")); len(kept) > 1 {
		t.Errorf("kept %v", kept)
	}
	if entries, _ := os.ReadDir(w.config.Dir); len(entries) > 4 {
		t.Errorf("left %v", entries)
	}
	w.config.Time, w.config.Dir = time.Nanosecond, t.TempDir()
	if got, _ := w.fetch(New(w.config), r, false, a); got.Why != errTime.Error() {
		t.Errorf("without time: %+v", got)
	}
}

// TestNothingIsMadeForAScanThatLacksNothing checks that a scan's artifacts are in the directory of its
// repository, which is removed even after a crash, and that the directory of contents is created with
// the first content only.
func TestNothingIsMadeForAScanThatLacksNothing(t *testing.T) {
	config := Config{Dir: filepath.Join(t.TempDir(), "artifacts")}
	w := &world{t: t, config: config}
	r := w.request(map[string]string{"a.yaml": "a: 1"}, map[string]string{"a.yaml": "a: 2"})
	g, _, err := New(config).Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if in := filepath.Dir(g.Dir()); in != r.Repository {
		t.Errorf("what the scan is lent lies in %s, not in %s", in, r.Repository)
	}
	g.End()
	for _, dir := range []string{g.Dir(), config.Dir} {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", dir, err)
		}
	}
}
