package scanner_test

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/scanner"
)

// watched is a tree that records which files are opened and which directories are listed.
type watched struct {
	*treetest.Named
	mu     sync.Mutex
	opened map[string]bool
}

func watch(files fstest.MapFS) *watched {
	return &watched{Named: treetest.Name(files), opened: map[string]bool{}}
}

func (w *watched) note(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened[name] = true
}

// Open implements fs.FS.
func (w *watched) Open(name string) (fs.File, error) {
	w.note(name)
	return w.Named.Open(name)
}

// ReadFile implements fs.ReadFileFS.
func (w *watched) ReadFile(name string) ([]byte, error) {
	w.note(name)
	return w.Named.ReadFile(name)
}

// ReadDir implements fs.ReadDirFS.
func (w *watched) ReadDir(name string) ([]fs.DirEntry, error) {
	w.note(name)
	return w.Named.ReadDir(name)
}

// applications returns overlays with a base each, one of them with a remote base, a directory of
// plain manifests, and a policy.
func applications(n int) fstest.MapFS {
	files := map[string]string{
		"policies/p.yaml":                     scanPolicy,
		"apps/remote/prod/kustomization.yaml": "resources: [https://example.com/base]\n",
		"apps/plain/cm.yaml":                  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n",
	}
	for i := range n {
		app := fmt.Sprintf("apps/app-%d/", i)
		files[app+"base/kustomization.yaml"] = "resources: [cm.yaml]\n"
		files[app+"base/cm.yaml"] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app-%d}\n", i)
		files[app+"prod/kustomization.yaml"] = "resources: [../base]\nnamespace: prod\n"
	}
	return mapFS(files)
}

const scanPolicy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - expression: object.metadata.name != 'bad'
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
`

// TestWarmScanReadsTheChange checks that directories in the cache are not read, neither at head nor
// at base, unless the change touches them or they may hold deciding objects. It must not matter
// whether a scan of the base alone or of another change filled the cache.
func TestWarmScanReadsTheChange(t *testing.T) {
	base := applications(8)
	edited := func(app, name string) fstest.MapFS {
		head := maps.Clone(base)
		head["apps/"+app+"/base/cm.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")}
		return head
	}
	for name, first := range map[string]scanner.Input{
		"the base":       {Head: scanner.Tree{FS: treetest.Name(base)}},
		"another change": {Head: scanner.Tree{FS: treetest.Name(edited("app-7", "other"))}, Base: &scanner.Tree{FS: treetest.Name(base)}},
	} {
		t.Run(name, func(t *testing.T) {
			cache, err := render.OpenCache(t.TempDir(), 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			first.Render.Cache = cache
			if _, err := scanner.Scan(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			from, to := watch(base), watch(edited("app-3", "bad"))
			in := scanner.Input{Base: &scanner.Tree{FS: from}, Head: scanner.Tree{FS: to}}
			in.Render.Cache = cache
			report, err := scanner.Scan(t.Context(), in)
			if err != nil || len(report.Findings) != 1 {
				t.Fatalf("%v: findings %v, want one", err, report.Findings)
			}
			outside := func(opened map[string]bool) (names []string) {
				for _, name := range slices.Sorted(maps.Keys(opened)) {
					known := strings.HasPrefix(name, "apps/app-3") || strings.HasPrefix(name, "policies") ||
						strings.HasPrefix(name, "apps/app-7") || // the other change touched it
						strings.HasPrefix(name, "apps/remote") // its parts may hold policies
					if !known && name != "." && name != "apps" {
						names = append(names, name)
					}
				}
				return names
			}
			if diff := cmp.Diff([]string(nil), outside(to.opened)); diff != "" {
				t.Errorf("read at head, and not touched: %s", diff)
			}
			if diff := cmp.Diff([]string(nil), outside(from.opened)); diff != "" {
				t.Errorf("read at base, and not touched: %s", diff)
			}
		})
	}
}
