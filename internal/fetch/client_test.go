package fetch

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
)

func TestGit(t *testing.T) {
	s, h := gitServer(t, map[string]string{"a/file.yaml": "content"})
	for _, args := range [][]string{{"tag", "light", h.Before}, {"tag", "-a", "-m", "x", "heavy", h.Before}, {"branch", "v1", h.Head}, {"tag", "v1", h.Before}} {
		if _, err := h.Git(args...); err != nil {
			t.Fatal(err)
		}
	}
	client, kept := newClient(t, Options{}, s)
	for _, test := range []struct{ version, commit, is string }{
		{"", h.Base, "HEAD"},
		{"main", h.Base, "refs/heads/main"},
		{"refs/pull/7/head", h.Head, "refs/pull/7/head"},
		{"light", h.Before, "refs/tags/light"},
		{"heavy", h.Before, "refs/tags/heavy"},
		{"v1", h.Before, "refs/tags/v1"}, // the tag takes precedence over the branch, as in git
		{h.Head, h.Head, ""},
	} {
		a := artifact.Artifact{Kind: artifact.Git, URL: s.URL + "/org/repo", Version: test.version}
		pin, err := client.Resolve(t.Context(), a)
		if err != nil {
			t.Errorf("%q: %v", test.version, err)
			continue
		}
		if pin.Commit != test.commit || pin.Version != test.is {
			t.Errorf("%q is %s (%s), want %s (%s)", test.version, pin.Commit, pin.Version, test.commit, test.is)
		}
		tree, err := kept.Tree(pin.Digest, store.KeepLinks, store.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if data, err := fs.ReadFile(tree, "a/file.yaml"); err != nil || string(data) != "content" {
			t.Errorf("%q: %q, %v", test.version, data, err)
		}
		if _, err := fs.Stat(tree, "side.yaml"); (err == nil) != (test.commit == h.Head) {
			t.Errorf("%q: side.yaml: %v", test.version, err)
		}
	}
}

// TestGitPinned checks that moving a tag does not affect a locked artifact.
func TestGitPinned(t *testing.T) {
	s, h := gitServer(t, map[string]string{"a/file.yaml": "content"})
	if _, err := h.Git("tag", "v1", h.Before); err != nil {
		t.Fatal(err)
	}
	a := artifact.Artifact{Kind: artifact.Git, URL: s.URL + "/org/repo", Version: "v1"}
	client, _ := newClient(t, Options{}, s)
	pin, err := client.Resolve(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Git("tag", "-f", "v1", h.Head); err != nil {
		t.Fatal(err)
	}
	other, kept := newClient(t, Options{}, s)
	if err := other.Get(t.Context(), a, pin); err != nil || !kept.Has(pin.Digest) {
		t.Errorf("the commit that was locked: %v", err)
	}
	moved, err := other.Resolve(t.Context(), a)
	if err != nil || moved.Commit != h.Head {
		t.Errorf("the tag is %s now, %v", moved.Commit, err)
	}
}

// TestGitRedirect checks that the redirect of a renamed repository is followed, as by git.
func TestGitRedirect(t *testing.T) {
	s, h := gitServer(t, map[string]string{"a/file.yaml": "content"})
	old := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL+strings.Replace(r.URL.RequestURI(), "/old/", "/org/", 1), http.StatusMovedPermanently)
	})
	client, _ := newClient(t, Options{}, s, old)
	pin, err := client.Resolve(t.Context(), artifact.Artifact{Kind: artifact.Git, URL: old.URL + "/old/repo", Version: "main"})
	if err != nil || pin.Commit != h.Base {
		t.Errorf("%+v, %v", pin, err)
	}
}

func TestFile(t *testing.T) {
	s := serveFunc(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "kind: A\n") })
	client, kept := newClient(t, Options{}, s)
	a := artifact.Artifact{Kind: artifact.File, URL: s.URL + "/a.yaml"}
	pin, err := client.Resolve(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(bytesOf(t, kept, pin)); got != "kind: A\n" || pin.Size != 8 {
		t.Errorf("%q, %+v", got, pin)
	}
}

// helmServer returns a server with some versions of charts.
func helmServer(t *testing.T, index func(base string) string, versions ...string) *server {
	t.Helper()
	var s *server
	s = serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/charts/index.yaml" {
			fmt.Fprint(w, index(s.URL))
			return
		}
		for _, v := range versions {
			if r.URL.Path == "/charts/app-"+v+".tgz" {
				_, _ = w.Write(chartArchive(t, "app", v))
				return
			}
		}
		http.NotFound(w, r)
	})
	return s
}

func indexOf(t *testing.T, versions ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nentries:\n  app:\n")
	for _, v := range versions {
		fmt.Fprintf(&b, "  - name: app\n    version: %s\n    urls: [app-%s.tgz]\n    digest: %s\n", v, v, strings.TrimPrefix(digestOf(chartArchive(t, "app", v)), "sha256:"))
	}
	return b.String()
}

// TestChartVersions compares the choice of versions with Helm's documentation and behaviour.
func TestChartVersions(t *testing.T) {
	versions := []string{"1.2.0", "2.0.0-rc.1", "1.10.0", "v1.9.0", "0.9.1", "1.10.0+build.2"}
	s := helmServer(t, func(string) string { return indexOf(t, versions...) }, versions...)
	client, kept := newClient(t, Options{}, s)
	for _, test := range []struct{ asked, want string }{
		{"", "1.10.0"},
		{"1.2.0", "1.2.0"},
		{"1.x", "1.10.0"},
		{"~1.2", "1.2.0"},
		{"^0.9.0", "0.9.1"},
		{">=1.0.0 <1.10.0", "v1.9.0"},
		{"1.9.0", "v1.9.0"},
		{">0.0.0-0", "2.0.0-rc.1"},
		{"2.0.0-rc.1", "2.0.0-rc.1"},
		{"1.10.0+build.2", "1.10.0+build.2"},
		{"2.x", ""},
		{"3.0.0", ""},
		{"main", ""},
	} {
		a := artifact.Artifact{Kind: artifact.Chart, URL: s.URL + "/charts", Name: "app", Version: test.asked}
		pin, err := client.Resolve(t.Context(), a)
		if pin.Version != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q is %q, want %q (%v)", test.asked, pin.Version, test.want, err)
		}
		if err == nil && !slices.Equal(bytesOf(t, kept, pin), chartArchive(t, "app", pin.Version)) {
			t.Errorf("%q has another content", test.asked)
		}
	}
	if n := strings.Count(s.requests(), "index.yaml"); n != 1 {
		t.Errorf("the index was asked for %d times", n)
	}
}

// TestTotal checks that contents that are refused count as fetched: they are stored, and a repository with wrong digests
// in its index could fill the disk with them.
func TestTotal(t *testing.T) {
	s := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "index.yaml") {
			_, _ = w.Write([]byte(strings.Repeat(r.URL.Path, 40_000)))
			return
		}
		_, _ = w.Write([]byte("entries:\n  app:\n"))
		for i := range 8 {
			_, _ = fmt.Fprintf(w, "  - {version: 1.0.%[1]d, digest: %064[1]d, urls: [%[1]d.tgz]}\n", i)
		}
	})
	const most = 1 << 20
	client, kept := newClient(t, Options{Limits: Limits{Total: most}}, s)
	var failed []string
	for i := range 8 {
		_, err := client.Resolve(t.Context(), artifact.Artifact{Kind: artifact.Chart, URL: s.URL, Name: "app", Version: fmt.Sprintf("1.0.%d", i)})
		if err == nil {
			t.Fatal("a chart with another digest is fetched")
		}
		failed = append(failed, err.Error())
	}
	if !strings.Contains(failed[0], "in the index of its repository") || !strings.Contains(failed[7], "all artifacts together") {
		t.Errorf("errors %q", failed)
	}
	size := int64(0)
	_ = fs.WalkDir(os.DirFS(kept.Dir()), ".", func(_ string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); err == nil && infoErr == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	if size == 0 || size > most {
		t.Errorf("%d bytes are stored, want at most %d", size, most)
	}
}

// TestTotalAtOnce checks that contents which are stored at the same time share the limit, and that one that is not
// stored in the end does not count.
func TestTotalAtOnce(t *testing.T) {
	const most = 1 << 20
	client := New(store.Open(t.TempDir()), Options{Limits: Limits{Total: most}})
	text := strings.Repeat("x", most/2+1)
	put := func() error {
		_, _, err := client.put(strings.NewReader(text), most)
		return err
	}
	r, w := io.Pipe()
	failed := make(chan error)
	go func() {
		_, _, err := client.put(r, most)
		failed <- err
	}()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(nil) // is read after the bytes before it were counted
	if err := put(); err == nil || !strings.Contains(err.Error(), "all artifacts together") {
		t.Errorf("error %v, want that all have too many bytes", err)
	}
	_ = w.CloseWithError(errors.New("it broke"))
	if err := <-failed; err == nil {
		t.Error("a broken content is stored")
	}
	if err := put(); err != nil {
		t.Errorf("error %v after a content that was not stored", err)
	}
}

// TestChartGet checks that a locked chart is requested by its exact version.
func TestChartGet(t *testing.T) {
	s := helmServer(t, func(string) string { return indexOf(t, "1.1.0", "1.0.0") }, "1.0.0", "1.1.0")
	client, kept := newClient(t, Options{}, s)
	content := chartArchive(t, "app", "1.0.0")
	a := artifact.Artifact{Kind: artifact.Chart, URL: s.URL + "/charts", Name: "app", Version: "1.x"}
	pin := artifact.Pin{Version: "1.0.0", Digest: digestOf(content), Size: int64(len(content))}
	if err := client.Get(t.Context(), a, pin); err != nil || !kept.Has(pin.Digest) {
		t.Error(err)
	}
	pin.Digest = digestOf(chartArchive(t, "app", "other"))
	moved := new(MovedError)
	if err := client.Get(t.Context(), a, pin); !errors.As(err, &moved) {
		t.Errorf("error %v, want that the content is another", err)
	}
}

func TestOCI(t *testing.T) {
	s, push := registryServer(t)
	for _, v := range []string{"1.0.0", "1.2.0", "2.0.0-rc.1", "1.2.0_b1"} {
		push("charts/app", v, chartMedia, chartArchive(t, "app", v))
	}
	first := push("manifests", "latest", "application/vnd.cncf.flux.content.v1.tar+gzip", archive(t, &tar.Header{Name: "a.yaml"}, "old"))
	push("manifests", "latest", "application/vnd.cncf.flux.content.v1.tar+gzip", archive(t, &tar.Header{Name: "a.yaml"}, "new"))
	push("manifests", "v1.0.0", "application/vnd.cncf.flux.content.v1.tar+gzip", archive(t, &tar.Header{Name: "a.yaml"}, "one"))
	client, kept := newClient(t, Options{}, s)
	charts, manifests := "oci://"+s.host()+"/charts", "oci://"+s.host()+"/manifests"
	for _, test := range []struct {
		asked   artifact.Artifact
		version string
		content []byte
	}{
		{artifact.Artifact{Kind: artifact.Chart, URL: charts, Name: "app", Version: "1.0.0"}, "1.0.0", chartArchive(t, "app", "1.0.0")},
		{artifact.Artifact{Kind: artifact.Chart, URL: charts, Name: "app", Version: "~1.0"}, "1.0.0", chartArchive(t, "app", "1.0.0")},
		{artifact.Artifact{Kind: artifact.Chart, URL: charts, Name: "app"}, "1.2.0", chartArchive(t, "app", "1.2.0")},
		{artifact.Artifact{Kind: artifact.Chart, URL: charts, Name: "app", Version: "1.2.0+b1"}, "1.2.0+b1", chartArchive(t, "app", "1.2.0_b1")},
		{artifact.Artifact{Kind: artifact.Chart, URL: charts, Name: "app", Version: "1.2.0_b1"}, "1.2.0+b1", chartArchive(t, "app", "1.2.0_b1")},
		{artifact.Artifact{Kind: artifact.OCI, URL: manifests}, "latest", archive(t, &tar.Header{Name: "a.yaml"}, "new")},
		{artifact.Artifact{Kind: artifact.OCI, URL: manifests, Version: first}, first, archive(t, &tar.Header{Name: "a.yaml"}, "old")},
		{artifact.Artifact{Kind: artifact.OCI, URL: manifests, Version: "semver:1.x"}, "v1.0.0", archive(t, &tar.Header{Name: "a.yaml"}, "one")},
	} {
		pin, err := client.Resolve(t.Context(), test.asked)
		if err != nil {
			t.Errorf("%s: %v", test.asked, err)
			continue
		}
		if pin.Version != test.version || pin.Digest != digestOf(test.content) {
			t.Errorf("%s: %+v, want version %s", test.asked, pin, test.version)
		}
		other, _ := newClient(t, Options{}, s)
		if err := other.Get(t.Context(), test.asked, pin); err != nil {
			t.Errorf("%s again: %v", test.asked, err)
		}
	}
	pin, err := client.Resolve(t.Context(), artifact.Artifact{Kind: artifact.OCI, URL: manifests})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := kept.Tree(pin.Digest, store.DropLinks, store.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := fs.ReadFile(tree, "a.yaml"); string(data) != "new" {
		t.Errorf("a.yaml is %q", data)
	}
}

func TestCredentials(t *testing.T) {
	s := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "bot" || password != "secret" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "private")
	})
	text := "hosts:\n- host: " + s.host() + "\n  username: bot\n  passwordEnv: PASSWORD\n"
	logins, err := ParseCredentials("c.yaml", []byte(text), func(string) string { return "secret" })
	if err != nil {
		t.Fatal(err)
	}
	a := artifact.Artifact{Kind: artifact.File, URL: s.URL + "/a.yaml"}
	client, _ := newClient(t, Options{Credentials: logins}, s)
	if _, err := client.Resolve(t.Context(), a); err != nil {
		t.Error(err)
	}
	without, _ := newClient(t, Options{}, s)
	if _, err := without.Resolve(t.Context(), a); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without credentials: %v", err)
	}
}

func TestParseCredentialsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"hosts: [{host: 'a/b', tokenEnv: T}]":                     "no host",
		"hosts: [{host: a}]":                                      "give one of",
		"hosts: [{host: a, passwordEnv: T, tokenEnv: T}]":         "give one of",
		"hosts: [{host: a, passwordEnv: T}]":                      "needs a username",
		"hosts: [{host: a, tokenEnv: MISSING}]":                   "MISSING is not set",
		"hosts: [{host: a, tokenEnv: T}, {host: A, tokenEnv: T}]": "twice",
		"hosts: [{host: a, password: secret}]":                    "password",
	} {
		_, err := ParseCredentials("c.yaml", []byte(text), func(name string) string {
			if name == "T" {
				return "x"
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

// TestNewestTag checks that the newest version in a range is chosen, as by source-controller.
func TestNewestTag(t *testing.T) {
	refs := map[string]string{
		"refs/tags/v1.0.0": "a", "refs/tags/v1.2.0": "b", "refs/tags/1.3": "c", "refs/tags/v2.0.0-rc.1": "d", "refs/tags/2.0.0": "e",
		"refs/tags/v3.0.0": "f", "refs/tags/3.0.0": "g", "refs/tags/3.1.0": "h", "refs/tags/v3.1.0": "h", "refs/heads/9.9.9": "i",
	}
	for within, want := range map[string]string{
		"1.x": "refs/tags/v1.2.0", ">=1.0.0 <2.0.0": "refs/tags/v1.2.0", "~2.0.0-0": "refs/tags/2.0.0", "*": "refs/tags/3.1.0",
		"3.0.x": "are of the same version", "8.x": "no tag is a version in 8.x", "nonsense": "no range of versions",
	} {
		name, hash, err := newestTag(refs, within)
		if got := name + fmt.Sprint(err); !strings.Contains(got, want) || err == nil && refs[name] != hash {
			t.Errorf("%s: %s %s %v, want %s", within, name, hash, err, want)
		}
	}
}
