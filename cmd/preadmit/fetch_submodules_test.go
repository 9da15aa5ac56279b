package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

// withSubmodule adds a submodule to the repository of w.
func (w *elsewhere) withSubmodule() (commit string) {
	w.t.Helper()
	other, err := gittest.NewHistory(filepath.Join(filepath.Dir(w.git.Dir), "library"), map[string]string{
		"pods/kustomization.yaml": "resources: [pod.yaml]\n", "pods/pod.yaml": strings.ReplaceAll(remotePod, "remote", "library"),
	}, map[string]string{"a": "b"}, map[string]string{"c": "d"})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.git.Commit(map[string]string{
		".gitmodules":            "[submodule \"library\"]\n\tpath = vendor/library\n\turl = ../library\n",
		"all/kustomization.yaml": "resources: [../base, ../vendor/library/pods]\n",
		"without/other.yaml":     strings.ReplaceAll(remotePod, "remote", "without"),
	}); err != nil {
		w.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"update-index", "--add", "--cacheinfo", "160000," + other.Base + ",vendor/library"}, {"commit", "-q", "-m", "submodule"},
	} {
		if _, err := w.git.Git(args...); err != nil {
			w.t.Fatal(err)
		}
	}
	return other.Base
}

// TestFetchSubmodules: submodules are separate artifacts, with the same rules.
func TestFetchSubmodules(t *testing.T) {
	w := newElsewhere(t)
	commit := w.withSubmodule()
	h := w.repository("resources:\n- URL/org/repo//all?ref=main\n")
	has(t, w.fetch(0, h.Dir), "locked git URL/org/library, version "+commit+": "+commit[:12], "2 artifacts, 0 failed")
	has(t, w.run(0, "render", filepath.Join(h.Dir, "app")), "name: remote", "name: library")
	has(t, w.run(0, "render", "--origin", filepath.Join(h.Dir, "app")), "(app/kustomization.yaml:2)")
	has(t, w.run(0, "scan", "--offline", h.Dir), "2 requests")
	has(t, w.fetch(0, h.Dir), "2 artifacts, 0 failed")
	has(t, w.fetch(0, h.Dir, "--check"), "2 artifacts, 0 not as locked")
	locked, err := os.ReadFile(filepath.Join(h.Dir, lock.FileName))
	if err != nil {
		t.Fatal(err)
	}

	// Without the submodule in the lock it is not known what git would check out.
	entries := slices.DeleteFunc(strings.SplitAfter(string(locked), "\n- "), func(entry string) bool { return strings.Contains(entry, "/org/library") })
	without := w.commit(h, map[string]string{lock.FileName: strings.TrimSuffix(strings.Join(entries, ""), "- ")})
	has(t, w.run(0, "scan", "--offline", h.Dir), "is not there: its submodule vendor/library is git URL/org/library, version "+commit)
	has(t, w.fetch(1, h.Dir, "--check"), "missing git URL/org/library, version "+commit+": used at app/kustomization.yaml:2:3")

	// A submodule of a base is allowed only by the same rules as the base.
	change := w.commit(h, map[string]string{lock.FileName: string(locked), "app/kustomization.yaml": "nameSuffix: -x\nresources:\n- URL/org/repo//all?ref=main\n"})
	scan := append([]string{"scan", "--fetch=locked", "--base", without, "--head", change, h.Dir}, w.flags...)
	has(t, w.run(0, scan...), "the base does not have it in its preadmit.lock, and its configuration does not allow the URL")
	has(t, w.run(0, append(scan, "--allow", w.url+"/org/library")...), "4 requests")

	// They are left out if the entry disables them.
	w.commit(h, map[string]string{"app/kustomization.yaml": "resources:\n- URL/org/repo//base?ref=main&submodules=false\n"})
	has(t, w.fetch(0, h.Dir), "removed git URL/org/library", "1 artifact, 0 failed")
}

// TestFetchRecurseSubmodules: submodules of a GitRepository are checked out only if it sets recurseSubmodules.
func TestFetchRecurseSubmodules(t *testing.T) {
	w := newElsewhere(t)
	w.withSubmodule()
	h := w.repository("resources: []\n")
	source := func(recurse bool) string {
		return fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {url: URL/org/repo, ref: {branch: main}, recurseSubmodules: %v}\n", recurse)
	}
	unit := func(name, dir string) string {
		return "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n  path: " + dir + "\n  prune: true\n  sourceRef: {kind: GitRepository, name: other}\n"
	}
	own := strings.Replace(unit("flux-system", "./clusters/one"), "name: other", "name: flux-system", 1)
	w.commit(h, map[string]string{
		"clusters/one/flux-system/gotk-sync.yaml": own,
		"clusters/one/other.yaml":                 source(true) + unit("vendor", "./vendor") + unit("library", "./vendor/library/pods"),
	})
	has(t, w.fetch(0, h.Dir), "2 artifacts, 0 failed")
	for _, name := range []string{"vendor", "library"} {
		has(t, w.run(0, "render", "--tree", h.Dir, "Kustomization/flux-system/"+name), "name: library")
	}
	w.commit(h, map[string]string{"clusters/one/other.yaml": source(false) + unit("vendor", "./vendor") + unit("library", "./vendor/library/pods")})
	has(t, w.fetch(0, h.Dir), "removed git URL/org/library", "1 artifact, 0 failed")
	has(t, w.run(3, "render", "--tree", h.Dir, "Kustomization/flux-system/library"), "kustomization path not found")
	if out := w.run(0, "render", "--tree", h.Dir, "Kustomization/flux-system/vendor"); strings.Contains(out, "library") {
		t.Errorf("a submodule that is not checked out has files:\n%s", out)
	}
}
