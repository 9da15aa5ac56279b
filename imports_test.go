// Package preadmit_test keeps the house in order: it reads the import graph of
// the module's own packages and fails on an edge that ARCHITECTURE.md forbids.
package preadmit_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/preadmit/preadmit"

// layers are the packages from the outside in. A package imports packages of
// later layers only. A directory below a layer belongs to it.
var layers = []string{
	"cmd", "cmd/preadmit-sandbox", "cmd/preadmit/internal/action", "cmd/preadmit/internal/initialize", "cmd/preadmit/internal/playground", "cmd/preadmit/internal/scan", "cmd/preadmit/internal/artifacts", "cmd/preadmit/internal/snapshot", "cmd/preadmit/internal/sandbox", "cmd/preadmit/internal/cli",
	"webhooks", "webhooks/playground", "webhooks/pages", "webhooks/reconcile", "webhooks/intake", "webhooks/worker", "webhooks/artifacts", "webhooks/jailed/child", "webhooks/jailed",
	"webhooks/app", "webhooks/queue", "webhooks/queue/embedded", "webhooks/metrics", "report/github",
	"report/format",
	"report/format/text", "report/format/markdown", "report/format/html", "report/format/sarif", "report/format/junit",
	"report/format/workflow", "report/format/codequality", "report/format/objects",
	"report/format/excerpt", "report/format/outline", "report/format/mask", "report/format/terminal", "report/format/escape",
	"scanner/playground", "scanner", "scanner/explain", "scanner/diff", "scanner/gaps", "scanner/target", "scanner/plan", "scanner/config",
	"scanner/lines", "scanner/lines/text",
	"scanner/server", "scanner/mutation", "scanner/locate",
	"scanner/policy", "scanner/policy/cel", "scanner/policy/expressions", "scanner/policy/secrets", "scanner/controllers", "scanner/change",
	"scanner/admission", "scanner/admission/unknown", "scanner/admission/etcd", "scanner/admission/custom", "scanner/admission/builtin", "scanner/admission/decoded", "scanner/admission/apply", "scanner/admission/listers", "scanner/admission/refusal", "scanner/admission/scale", "scanner/admission/size",
	"scanner/parallel", "scanner/impersonate", "scanner/kinds", "scanner/clusterconfig", "scanner/admission/emulation", "scanner/release",
	"internal/deploytest",
	"render/sources", "render/deploy", "render/argocd/appset", "render/argocd", "render/argocd/settings", "render/resourceset", "render/helm", "render/flux",
	"render/proof", "render/plain",
	"render/kustomize", "render/kustomize/inflate", "render/kustomize/rules", "render/kustomize/padding", "render/kustomize/builtins", "render/kustomize/build",
	"render/isolate",
	"render/helm/locate", "render/helm/release", "render/helm/engine", "render/helm/values", "render/helm/chart", "render/fluxtypes",
	"render", "render/origin", "render/artifact/overlay", "render/tree", "render/scope",
	"internal/fetch", "render/artifact/permit", "render/artifact/store", "render/artifact/lock", "render/artifact",
	"internal/apiserver",
	"internal/jail",
	"internal/hostile",
	"internal/strictyaml",
	"internal/levenshtein",
	"internal/memfs",
	"internal/testall",
	"internal/freeport",
	"internal/heap", "internal/heap/early",
	"internal/resident",
	"internal/cputime",
	"internal/githubtest",
	"internal/gittest",
	"internal/outside",
	"report",
}

// reserved are packages that only some layers may import.
var reserved = map[string][]string{
	module + "/scanner":                       {"cmd", "scanner", "webhooks/jailed/child", "webhooks/artifacts"},
	module + "/render/plain":                  {"render/sources", "render/argocd"},
	module + "/render/flux":                   {"cmd", "internal/deploytest", "render/sources", "render/deploy", "render/helm", "render/resourceset"},
	module + "/render/kustomize":              {"render/sources", "render/flux", "render/argocd", "render/kustomize"},
	module + "/render/tree/gittree":           {"cmd", "webhooks", "internal/fetch"},
	module + "/internal/fetch":                {"cmd", "webhooks"},
	module + "/internal/apiserver":            {"cmd/preadmit-sandbox"},
	"github.com/google/go-github":             {"report/github", "webhooks"},
	"github.com/getkin/kin-openapi":           {"internal/githubtest"},
	"github.com/google/cel-go":                {"scanner/policy", "scanner/locate", "scanner/explain"},
	"helm.sh/helm":                            {"render/helm", "render/argocd"},
	"github.com/go-chi/chi":                   {"webhooks"},
	"github.com/go-git/go-git":                {"render/tree/gittree", "internal/gittest"},
	"github.com/spf13/cobra":                  {"cmd"},
	"oras.land/oras-go":                       {"internal/fetch"},
	"github.com/bradleyfalzon/ghinstallation": {"webhooks/app"},
	"github.com/golang-jwt/jwt":               {"webhooks/app"},
	"github.com/nats-io":                      {"webhooks/queue"},
	"github.com/prometheus":                   {"webhooks"},
	"go.etcd.io/etcd/server":                  {"internal/apiserver"},
	"k8s.io/kubernetes/cmd":                   {"internal/apiserver"},
}

func TestImports(t *testing.T) {
	edges := 0
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(file, entry.Name())
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			edges++
			imported, _ := strconv.Unquote(spec.Path.Value)
			if complaint := judge(path.Dir(filepath.ToSlash(file)), imported); complaint != "" {
				t.Errorf("%s: %s", file, complaint)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if edges == 0 {
		t.Error("read no imports at all")
	}
}

// enter skips directories that are not the module's.
func enter(dir, name string) error {
	if dir == "." {
		return nil
	}
	if strings.HasPrefix(name, ".") || name == "testdata" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return filepath.SkipDir // a module of its own
	}
	return nil
}

// judge says what is wrong with an import by a package in dir, "" when nothing is.
func judge(dir, imported string) string {
	from := layer(dir)
	if from == "" {
		return fmt.Sprintf("directory %s belongs to no layer: give it a place in ARCHITECTURE.md and here", dir)
	}
	for name, allowed := range reserved {
		if within(imported, name) && !slices.ContainsFunc(allowed, func(dir string) bool { return within(from, dir) }) {
			return fmt.Sprintf("%s is for %s only, not for %s", name, strings.Join(allowed, " and "), from)
		}
	}
	to, ours := strings.CutPrefix(imported, module+"/")
	if !ours || to == dir {
		return ""
	}
	switch inner := layer(to); {
	case inner == "":
		return fmt.Sprintf("%s belongs to no layer", to)
	case inner == from && !within(to, dir) && !within(dir, to):
		return fmt.Sprintf("%s must not import its neighbour %s", dir, to)
	case rank(inner) < rank(from):
		return fmt.Sprintf("%s must not import %s, which is further out", from, inner)
	}
	return ""
}

// layer is the innermost layer that holds dir; render/tree/gittree is one of its own.
func layer(dir string) string {
	if within(dir, "render/tree/gittree") {
		return "render/tree/gittree"
	}
	best := ""
	for _, l := range layers {
		if within(dir, l) && len(l) > len(best) {
			best = l
		}
	}
	return best
}

// rank counts layers from the outside. What is reserved ranks last: it imports
// nothing of the module.
func rank(l string) int {
	if i := slices.Index(layers, l); i >= 0 {
		return i
	}
	return len(layers)
}

// within reports whether a path is dir or below it; a major version suffix such
// as go-github/v62 counts as below.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func TestJudge(t *testing.T) {
	tests := []struct {
		dir, imported string
		allowed       bool
	}{
		{"cmd/preadmit", module + "/scanner", true},
		{"cmd/preadmit", module + "/render/tree/gittree", true},
		{"cmd/preadmit", "github.com/google/cel-go/cel", false},
		{"cmd/preadmit", module + "/cmd/preadmit/internal/cli", true},
		{"cmd/preadmit/internal/action", module + "/cmd/preadmit/internal/scan", true},
		{"cmd/preadmit/internal/scan", module + "/cmd/preadmit/internal/action", false},
		{"webhooks", module + "/report/github", true},
		{"webhooks", "github.com/google/go-github/v62/github", true},
		{"webhooks/queue", module + "/webhooks", false},
		{"webhooks/worker", module + "/webhooks/queue", true},
		{"webhooks/worker", module + "/webhooks/pages", false},
		{"webhooks/worker", "github.com/nats-io/nats.go", false},
		{"webhooks/worker", module + "/webhooks/jailed", true},
		{"webhooks/worker", module + "/scanner", false},
		{"webhooks/jailed", module + "/scanner", false},
		{"webhooks/jailed/child", module + "/scanner", true},
		{"webhooks/pages", "github.com/go-chi/chi/v5", true},
		{"report", module + "/scanner", false},
		{"report", module + "/render", false},
		{"report", module + "/report/format", false},
		{"report/format", module + "/report", true},
		{"report/format", module + "/report/github", false},
		{"report/format", "github.com/google/go-github/v62/github", false},
		{"report/github", module + "/report/format", true},
		{"report/format", module + "/report/format/text", true},
		{"report/format/text", module + "/report/format/escape", true},
		{"report/format/escape", module + "/report/format/text", false},
		{"report/github", module + "/report", true},
		{"report/github", "github.com/google/go-github/v62/github", true},
		{"report/github", module + "/cmd/preadmit", false},
		{"internal/githubtest", "github.com/getkin/kin-openapi/openapi3", true},
		{"report/github", "github.com/getkin/kin-openapi/openapi3", false},
		{"report", "github.com/getkin/kin-openapi/openapi3", false},
		{"scanner", module + "/report", true},
		{"scanner", module + "/report/format", false},
		{"render", module + "/report", true},
		{"scanner", module + "/render/tree/gittree", false},
		{"scanner", module + "/scanner/policy", true},
		{"scanner", "github.com/go-chi/chi/v5", false},
		{"scanner/lint", module + "/scanner", true},
		{"scanner/lint", module + "/scanner/policy", true},
		{"scanner/lint", module + "/scanner/suite", false},
		{"scanner/lint", "github.com/google/cel-go/cel", false},
		{"scanner/policy", module + "/scanner", false},
		{"scanner/policy", module + "/scanner/admission", true},
		{"scanner/policy", "github.com/google/cel-go/cel", true},
		{"scanner/admission", "github.com/google/cel-go/cel", false},
		{"scanner/admission", module + "/scanner/policy", false},
		{"scanner/admission", module + "/scanner/kinds", true},
		{"scanner/kinds", module + "/scanner/admission", false},
		{"scanner/locate", module + "/scanner/policy", true},
		{"render", module + "/scanner", false},
		{"render", module + "/render/tree", true},
		{"render", module + "/render/kustomize", false},
		{"render/sources", module + "/render/plain", true},
		{"render/plain", module + "/render/kustomize", false},
		{"render/plain", module + "/render/kustomize/build", false},
		{"render/kustomize", module + "/render/plain", false},
		{"render/kustomize", module + "/render/kustomize/rules", true},
		{"render/origin", module + "/render", false},
		{"render/tree", module + "/render/origin", false},
		{"scanner", module + "/render/kustomize", false},
		{"render", module + "/render/tree/gittree", false},
		{"render/tree/gittree", module + "/render", false},
		{"render", "github.com/go-git/go-git/v5", false},
		{"cmd/preadmit-sandbox", module + "/internal/apiserver", true},
		{"cmd/preadmit", module + "/internal/apiserver", false},
		{"cmd/preadmit/internal/sandbox", module + "/internal/apiserver", false},
		{"cmd/preadmit/internal/sandbox", "go.etcd.io/etcd/server/v3/embed", false},
		{"scanner", "k8s.io/kubernetes/cmd/kube-apiserver/app", false},
		{"util", "fmt", false},
	}
	for _, test := range tests {
		complaint := judge(test.dir, test.imported)
		if (complaint == "") != test.allowed {
			t.Errorf("%s imports %s: complaint %q, want allowed %v", test.dir, test.imported, complaint, test.allowed)
		}
	}
}
