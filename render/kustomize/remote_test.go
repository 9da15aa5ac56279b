package kustomize

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/render/tree/gittree"
)

// remoteWorld is a git server and a file server, with a lock and a store of their contents.
type remoteWorld struct {
	t     *testing.T
	url   string // of the server
	git   *gittest.History
	store *store.Store
	lock  *lock.Lock
	// modules are the commits of the branches with submodules, by branch.
	modules map[string]string
	// packed and commits are the contents and commits of the submodules, by name.
	packed  map[string]fs.FS
	commits map[string]string
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: web
        image: nginx
`

func newRemoteWorld(t *testing.T) *remoteWorld {
	t.Helper()
	root := t.TempDir()
	h, err := gittest.NewHistory(filepath.Join(root, "org", "repo"), map[string]string{
		"base/kustomization.yaml":        "resources: [web.yaml, ../other]\nconfigMapGenerator:\n- name: settings\n  files: [settings.txt]\n",
		"base/web.yaml":                  deployment,
		"base/settings.txt":              "one",
		"other/kustomization.yaml":       "namePrefix: other-\nresources: [web.yaml]\n",
		"other/web.yaml":                 deployment,
		"kustomization.yaml":             "resources: [top.yaml]\n",
		"top.yaml":                       "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: top\n",
		"component/kustomization.yaml":   "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {by: component}\n",
		"escape/kustomization.yaml":      "resources: [../top.yaml]\n",
		"leave/kustomization.yaml":       "resources: [../../../../etc]\n",
		"repo/kustomization.yaml":        "resources: [../top]\n",
		"broken/kustomization.yaml":      "resources: [gone.yaml]\n",
		"a/b/c/kustomization.yaml":       "resources: [../../../base]\nnameSuffix: -c\n",
		"linked/kustomization.yaml":      "resources: [link.yaml]\n",
		"linked/sub/web.yaml":            deployment,
		"dir.with@at/kustomization.yaml": "resources: [../base]\n",
		".gitmodules":                    "[submodule \"library\"]\n\tpath = vendor/library\n\turl = ../library\n",
		"nested/kustomization.yaml":      "resources: [../vendor/library/base]\n",
	}, map[string]string{"base/settings.txt": "two"}, map[string]string{"side": "x"})
	if err != nil {
		t.Fatal(err)
	}
	w := &remoteWorld{t: t, git: h, store: store.Open(filepath.Join(t.TempDir(), "cache")), lock: &lock.Lock{}, packed: map[string]fs.FS{}, commits: map[string]string{}}
	for _, args := range [][]string{{"tag", "v1.0.0", h.Before}, {"tag", "-a", "-m", "x", "heavy", h.Before}, {"branch", "feature/x", h.Head}} {
		if _, err := h.Git(args...); err != nil {
			t.Fatal(err)
		}
	}
	w.addSubmodules(root)
	if err := os.Rename(filepath.Join(root, "org", "repo", ".git"), filepath.Join(root, "org", "repo.git")); err != nil {
		t.Fatal(err)
	}
	if err := errors2(os.MkdirAll(filepath.Join(root, "org"), 0o755), os.Rename(filepath.Join(root, "org", "repo"), filepath.Join(root, "work"))); err != nil {
		t.Fatal(err)
	}
	backend, err := gittest.Backend(root)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/files/", func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, deployment) })
	mux.Handle("/", backend)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.url = server.URL
	w.lockAll(filepath.Join(root, "org", "repo.git"))
	return w
}

// addSubmodules adds branches with submodules: modules, with a submodule that has one itself; private, with
// one that is not locked; and nowhere, with one that is missing in .gitmodules.
func (w *remoteWorld) addSubmodules(root string) {
	w.t.Helper()
	commits := map[string]string{}
	for _, name := range []string{"deep", "library"} {
		h, err := gittest.NewHistory(filepath.Join(root, "org", name), map[string]string{
			"base/kustomization.yaml": "resources: [web.yaml]\nnamePrefix: " + name + "-\n", "base/web.yaml": deployment,
		}, map[string]string{"a": "b"}, map[string]string{"c": "d"})
		if err != nil {
			w.t.Fatal(err)
		}
		commits[name] = h.Base
		if name == "library" {
			commits[name] = w.withModules(h, "main", map[string]string{"below/deep": "../deep/"}, map[string]string{"below/deep": commits["deep"]}, map[string]string{
				"base/kustomization.yaml": "resources: [web.yaml, ../below/deep/base]\nnamePrefix: library-\n",
			})
		}
		repository, err := gittree.Open(h.Dir)
		if err != nil {
			w.t.Fatal(err)
		}
		c, err := repository.Commit(commits[name])
		if err != nil {
			w.t.Fatal(err)
		}
		w.packed[name], w.commits[name] = c.FS(), commits[name]
	}
	link := filepath.Join(w.git.Dir, "shortcut")
	if err := os.Symlink("vendor/library/base", link); err != nil {
		w.t.Fatal(err)
	}
	files := map[string]string{"through/kustomization.yaml": "resources: [../shortcut]\nnameSuffix: -linked\n"}
	w.modules = map[string]string{
		"modules": w.withModules(w.git, "modules", map[string]string{"vendor/library": "../library"}, map[string]string{"vendor/library": commits["library"]}, files),
		"private": w.withModules(w.git, "private", map[string]string{"vendor/library": "../library", "secret": "../secret.git"}, map[string]string{"vendor/library": commits["library"], "secret": commits["deep"]}, nil),
		"nowhere": w.withModules(w.git, "nowhere", map[string]string{"vendor/library": "../library"}, map[string]string{"vendor/library": commits["library"], "unnamed": commits["deep"]}, nil),
	}
}

// withModules makes a branch with submodules: URLs for .gitmodules and commits, by paths.
func (w *remoteWorld) withModules(h *gittest.History, branch string, urls, commits, files map[string]string) string {
	w.t.Helper()
	text := ""
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		text += fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = %s\n", name, name, urls[name])
	}
	all := map[string]string{".gitmodules": text}
	maps.Copy(all, files)
	if _, err := h.Git("checkout", "-q", "-B", branch, h.Base); err != nil {
		w.t.Fatal(err)
	}
	if _, err := h.Commit(all); err != nil {
		w.t.Fatal(err)
	}
	for name, commit := range commits {
		if _, err := h.Git("update-index", "--add", "--cacheinfo", "160000,"+commit+","+name); err != nil {
			w.t.Fatal(err)
		}
	}
	if _, err := h.Git("commit", "-q", "-m", "modules"); err != nil {
		w.t.Fatal(err)
	}
	commit, err := h.Git("rev-parse", "HEAD")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := h.Git("checkout", "-q", "main"); err != nil {
		w.t.Fatal(err)
	}
	return commit
}

func errors2(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// lockAll locks the repository, under all its names, and a file.
func (w *remoteWorld) lockAll(dir string) {
	w.t.Helper()
	repository, err := gittree.Open(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, tree := range w.packed {
		w.set(artifact.Artifact{Kind: artifact.Git, URL: w.url + "/org/" + name, Version: w.commits[name]}, tree)
	}
	versions := map[string]string{"": w.git.Base, "main": w.git.Base, "v1.0.0": w.git.Before, "heavy": w.git.Before, "feature/x": w.git.Head, w.git.Head: w.git.Head}
	maps.Copy(versions, w.modules)
	for version, commit := range versions {
		c, err := repository.Commit(commit)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, name := range []string{"/org/repo", "/org/repo.git"} {
			w.set(artifact.Artifact{Kind: artifact.Git, URL: w.url + name, Version: version}, c.FS())
		}
	}
	digest, size, err := w.store.Put(strings.NewReader(deployment), 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	w.lock.Set(artifact.Artifact{Kind: artifact.File, URL: w.url + "/files/web.yaml"}, artifact.Pin{Digest: digest, Size: size})
}

func (w *remoteWorld) set(a artifact.Artifact, files fs.FS) {
	w.t.Helper()
	var b bytes.Buffer
	if err := store.Pack(&b, files, store.Limits{}); err != nil {
		w.t.Fatal(err)
	}
	digest, size, err := w.store.Put(&b, 1<<30)
	if err != nil {
		w.t.Fatal(err)
	}
	w.lock.Set(a, artifact.Pin{Digest: digest, Size: size})
}

// write makes a directory of files; URL in them is replaced with the server's URL.
func (w *remoteWorld) write(files map[string]string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := errors2(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(strings.ReplaceAll(text, "URL", w.url)), 0o644)); err != nil {
			w.t.Fatal(err)
		}
	}
	return dir
}

// render renders the kustomization app of a directory.
func (w *remoteWorld) render(dir string, opts render.Options) (*Source, *render.Result) {
	w.t.Helper()
	under, err := gittree.Dir(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	source := New(tree.New(overlay.New(under, store.NewLocked(w.store, w.lock, func(artifact.Artifact) string { return "run preadmit fetch" })), tree.Limits{}), opts).(*Source)
	return source, source.Render(w.t.Context(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}})
}

// oracle builds the same with kustomize itself and git.
func oracle(dir string) ([]*render.Object, error) {
	k := krusty.MakeKustomizer(&krusty.Options{Reorder: krusty.ReorderOptionUnspecified, LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()})
	resources, err := k.Run(filesys.MakeFsOnDisk(), filepath.Join(dir, "app"))
	if err != nil {
		return nil, err
	}
	return build.Objects(resources)
}

// TestRemoteBases compares with kustomize's own builds of remote bases that it fetches with git from the same
// server.
func TestRemoteBases(t *testing.T) {
	w := newRemoteWorld(t)
	local := "resources:\n- base.yaml\n"
	cases := map[string]string{
		"two slashes":           "resources:\n- URL/org/repo//base?ref=v1.0.0\n",
		"without a reference":   "resources:\n- URL/org/repo//base\n",
		"top":                   "resources:\n- URL/org/repo?ref=main\n",
		"behind .git":           "resources:\n- URL/org/repo.git/base?ref=main\n",
		"third part":            "resources:\n- URL/org/repo/base?ref=heavy\n",
		"version":               "resources:\n- URL/org/repo//base?version=v1.0.0\n",
		"branch with a slash":   "resources:\n- URL/org/repo//base?ref=feature/x\n",
		"commit":                "resources:\n- URL/org/repo//base?ref=" + w.git.Head + "\n",
		"other parameters":      "resources:\n- URL/org/repo//base?timeout=10s&ref=main&submodules=0\n",
		"git::":                 "resources:\n- git::URL/org/repo//base?ref=main\n",
		"quoted":                "resources:\n- 'URL/org/repo//base?ref=main'\n",
		"double quoted":         "resources: [\"URL/org/repo//base?ref=main\", \"URL/org/repo//component/..?ref=main\"]\n",
		"bases":                 "bases:\n- URL/org/repo//base?ref=main\n",
		"file":                  "resources:\n- URL/files/web.yaml\n",
		"component":             "resources:\n- URL/files/web.yaml\ncomponents:\n- URL/org/repo//component?ref=v1.0.0\n",
		"local and remote":      local + "- URL/org/repo//base?ref=v1.0.0\nnamePrefix: x-\nimages: [{name: nginx, newTag: '2'}]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 3}\n  target: {kind: Deployment}\n",
		"two of one":            "resources:\n- URL/org/repo//base?ref=v1.0.0\n- URL/org/repo//?ref=main\n",
		"deep":                  "resources:\n- URL/org/repo//a/b/c?ref=main\n",
		"patch":                 local + "patches:\n- path: URL/files/web.yaml\n",
		"generator":             "configMapGenerator:\n- name: g\n  files: [URL/files/web.yaml, key=URL/files/web.yaml]\n",
		"directory with an at":  "resources:\n- URL/org/repo//dir.with@at?ref=main\n",
		"comment behind":        "resources:\n- URL/org/repo//base?ref=main # of the team\n- base.yaml\n",
		"file out of a base":    "resources:\n- URL/org/repo//escape?ref=main\n",
		"base out of it":        "resources:\n- URL/org/repo//leave?ref=main\n",
		"file that is gone":     "resources:\n- URL/org/repo//broken?ref=main\n",
		"directory that is not": "resources:\n- URL/org/repo//nowhere?ref=main\n",
		"submodule":             "resources:\n- URL/org/repo//vendor/library/base?ref=modules\n",
		"through a submodule":   "resources:\n- URL/org/repo//nested?ref=modules\n- URL/org/repo//vendor/library/below/deep/base?ref=modules&submodules=true\n",
		"by a link":             "resources:\n- URL/org/repo//through?ref=modules\n",
		"beside a submodule":    "resources:\n- URL/org/repo//base?ref=modules\n- URL/org/repo?ref=main&submodules=0\nnamePrefix: x-\n",
		"without submodules":    "resources:\n- URL/org/repo//nested?ref=modules&submodules=0\n",
		"without, but beside":   "resources:\n- URL/org/repo//base?ref=private&submodules=false\n",
		"submodule without URL": "resources:\n- URL/org/repo//base?ref=nowhere\n",
		"submodule that is not": "resources:\n- URL/org/repo//base?ref=private\n",
		"path out of it":        "resources:\n- URL/org/repo//../x?ref=main\n",
	}
	for _, name := range testall.Sample(slices.Sorted(maps.Keys(cases)), 12) {
		text := cases[name]
		t.Run(name, func(t *testing.T) {
			w := *w
			w.t = t
			dir := w.write(map[string]string{"app/kustomization.yaml": text, "app/base.yaml": strings.ReplaceAll(deployment, "name: web", "name: local")})
			want, err := oracle(dir)
			source, got := w.render(dir, render.Options{})
			if err != nil {
				if slices.Contains([]string{"submodule", "through a submodule", "by a link", "beside a submodule", "without, but beside"}, name) {
					t.Fatal(err)
				}
				if got.Problem == nil {
					t.Fatalf("kustomize fails: %v", err)
				}
				if !strings.HasPrefix(got.Problem.Path, "app/") || strings.Contains(got.Problem.Message, "not fetched") && name != "path out of it" {
					t.Errorf("problem %v; kustomize says %v", got.Problem, err)
				}
				return
			}
			if got.Problem != nil {
				t.Fatal(got.Problem)
			}
			if diff := cmp.Diff(texts(want), texts(got.Objects)); diff != "" || len(want) == 0 {
				t.Errorf("%d objects (-kustomize +preadmit):\n%s", len(want), diff)
			}
			places, err := source.Origins(t.Context(), got)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range places {
				at, _ := p.Find("metadata.name")
				for _, at := range []render.Position{p.Document(), at} {
					if !strings.HasPrefix(at.Path, "app/") || at.Line == 0 {
						t.Errorf("object %d is at %s", i, at)
					}
				}
				for _, step := range p.Chain("metadata.name", 0) {
					if !strings.HasPrefix(step.Path, "app/") {
						t.Errorf("object %d has a step at %s", i, step.Path)
					}
				}
			}
		})
	}
}

func texts(objects []*render.Object) (out []string) {
	for _, o := range objects {
		out = append(out, string(o.JSON))
	}
	return out
}

// TestRemoteRefused checks that unavailable and ambiguous entries are refused.
func TestRemoteRefused(t *testing.T) {
	w := newRemoteWorld(t)
	for _, test := range []struct{ name, text, want string }{
		{"not locked", "resources:\n- URL/org/repo//base?ref=other\n", "app/kustomization.yaml:2:3: remote base \"URL/org/repo//base?ref=other\" is not there: preadmit.lock does not have it; run preadmit fetch"},
		{"not locked file", "patches:\n- path: URL/files/other.yaml\n", "is not there"},
		{"annotations", "buildMetadata: [originAnnotations]\nresources:\n- URL/org/repo//base?ref=main\n", "buildMetadata"},
		{"folded", "resources:\n- >-\n  URL/org/repo//base?ref=main\n", "write it on one line"},
		{"escaped", "resources:\n- \"\\x68ttp" + "COLON//org/repo//base?ref=main\"\n", "write it on one line"},
		{"alias", "namePrefix: &a URL/org/repo//base?ref=main\nresources: [*a]\n", "write it on one line"},
		{"submodule that is only named", "resources:\n- URL/org/repo//vendor/library/base?ref=main\n", "app/kustomization.yaml:2:3: "},
		{"submodule that is not locked", "resources:\n- URL/org/repo//base?ref=private\n", "is not there: its submodule secret is git URL/org/secret.git, version COMMIT: preadmit.lock does not have it; run preadmit fetch"},
		{"submodule without a URL", "resources:\n- URL/org/repo//base?ref=nowhere\n", "no URL that git would fetch for the submodule unnamed"},
		{"transformers", "transformers:\n- URL/org/repo//base?ref=main\n", "rendering does not reach the network"},
		{"the directory itself", "resources:\n- ../@artifacts/MOUNT\n", "does not exist"},
		{"a file of it", "configMapGenerator:\n- name: g\n  files: [../@artifacts/MOUNT/settings.txt]\n", "does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := *w
			w.t = t
			host := strings.TrimPrefix(w.url, "http://")
			mounted := "http:/%/" + host + "/org/repo@main/base"
			text := strings.NewReplacer("MOUNT", mounted, "COLON//", ":"+strings.TrimPrefix(w.url, "http:")+"/").Replace(test.text)
			_, got := w.render(w.write(map[string]string{"app/kustomization.yaml": text}), render.Options{})
			want := strings.NewReplacer("git URL", "git "+w.url, "\"URL", "\""+w.url, "COMMIT", w.commits["deep"]).Replace(test.want)
			if got.Problem == nil || !strings.Contains(got.Problem.Error(), want) {
				t.Errorf("problem %v, want one with %q", got.Problem, want)
			}
		})
	}
	dir := w.write(map[string]string{"app/kustomization.yaml": "resources:\n- URL/org/repo//base?ref=main\n", "@artifacts/x": "x"})
	if _, got := w.render(dir, render.Options{}); got.Problem == nil || !strings.Contains(got.Problem.Message, "rename it") {
		t.Errorf("a repository with the directory: %v", got.Problem)
	}
}

// TestRepositoryOf compares with the repositories that kustomize fetches with git, for entries of all forms.
func TestRepositoryOf(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >> " + dir + "/log\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, entry := range []string{
		"https://github.com/org/repo", "https://github.com/org/repo/", "https://github.com/org/repo/a/b?ref=v1", "github.com/org/repo//a?ref=x", "GitHub.com/org/repo",
		"https://GITHUB.com/org/repo.git//a?version=2&ref=", "git@github.com:org/repo.git//a?ref=v1", "git@github.com:org/repo/a", "ssh://git@github.com/org/repo//x", "ssh://github.com/org/repo",
		"git@gitlab.com:group/sub/repo.git//x", "user@host.xz:path/to/repo.git/x?ref=1", "ssh://git@host.xz:2222/org/repo.git/x", "https://gitlab.com/g/s/repo.git//d?ref=a/b", "https://gitlab.com/g/s/repo//d",
		"https://user@dev.azure.com/org/project/_git/repo/path/x?ref=main", "https://host/_git/repo", "https://host:8443/org/repo/x", "git::https://host/org/repo//a", "GIT::https://host/org/repo",
		"https://host/org", "https://host", "https://host/org/repo//../x", "org@host/a/b", "file:///tmp/repo//a?ref=v", "file:///tmp/repo", "http://host/org/repo?ref=v1&timeout=3&submodules=false",
		"github.com:org/repo/a", "https://github.com/org/repo?ref=%zz", "https://github.com/org/repo?timeout=x", "https://host/org/repo.github/x", "https://host/org/repo?submodules=0", "https://host/org/repo?submodules=no", "https://host/org/repo?submodules=F&ref=a", "https://host/org/repo?submodules=1&submodules=0", "https://host/org//repo//x", "hTTps://host/org/repo",
		"git@host:repo", "a@b", "base", "../base", "my.github.com/x/y", "https://github.com", "https://github.com/", "https://github.com/org",
	} {
		_ = os.Remove(filepath.Join(dir, "log"))
		root := t.TempDir()
		text := fmt.Sprintf("components:\n- %q\n", entry) // components are never tried as files
		if err := os.WriteFile(filepath.Join(root, "kustomization.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		k := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
		_, _ = k.Run(filesys.MakeFsOnDisk(), root)
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		want := ""
		for line := range strings.Lines(string(log)) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "fetch --depth=1 "); ok {
				want = rest
			}
			if strings.HasPrefix(line, "submodule ") {
				want += " with submodules"
			}
		}
		got := ""
		if url, ref, submodules, ok := build.Repository(entry); ok {
			if got = url + " HEAD"; ref != "" {
				got = url + " " + ref
			}
			if submodules {
				got += " with submodules"
			}
		}
		if got != want {
			t.Errorf("%s: %q, kustomize fetches %q", entry, got, want)
		}
	}
}
