package deploy_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/internal/testall"
)

// jsonnetBombs are short programs that need very much time or memory.
var jsonnetBombs = []struct {
	name, text, says string
	// long is set for programs that use the whole time limit.
	long bool
}{
	{"recursion", `local f(x) = f(x + 1) + 1; f(0)`, "failed: j/a.jsonnet:1: failed to evaluate jsonnet: RUNTIME ERROR: max stack frames exceeded.\nA", false},
	{"tail calls", `local f(x) = f(x + 1) tailstrict; f(0)`, "", false},
	{"doubled string", `local d(n, s) = if n == 0 then s else d(n - 1, s + s) tailstrict; d(50, 'aaaaaaaa')`, "refused: apps/a.yaml:6:54: \"j/a.jsonnet\" cannot be evaluated: it takes more than 512 MiB of memory", false},
	{"doubled array", `local d(n, a) = if n == 0 then a else d(n - 1, a + a) tailstrict; d(50, [1, 2])`, "refused: apps/a.yaml:6:54: \"j/a.jsonnet\" cannot be evaluated: it takes more than 512 MiB of memory", false},
	{"range", `std.range(1, 1000000000)`, "refused: apps/a.yaml:6:54: \"j/a.jsonnet\" cannot be evaluated: it takes more than 512 MiB of memory", false},
	{"array", `std.makeArray(100000000000, function(i) i)`, "", false},
	{"repeat", `std.repeat('a', 10000000000)`, "", false},
	{"format", `'%10000000000d' % 1`, "", false},
	{"loops", `std.foldl(function(a, b) a + std.foldl(function(c, d) c + d, std.range(1, 100000), 0), std.range(1, 100000), 0)`, "\"j/a.jsonnet\" cannot be evaluated: it takes more than ", true},
	{"nested text", strings.Repeat("[", 2_000_000), "", false},
	{"nested object", `local f(n) = {a: f(n + 1)}; f(0)`, "max stack frames exceeded", false},
	{"parsed", `std.parseJson(std.repeat('[', 5000000))`, "", false},
	{"imports itself", `import 'a.jsonnet'`, "", false},
	{"imports in a circle", `(import 'b.libsonnet') + 1`, "", false},
	{"text of itself", `local t = importstr 'a.jsonnet'; local d(n, s) = if n == 0 then s else d(n - 1, s + s) tailstrict; d(40, t)`, "", false},
}

// TestJsonnetBombs checks that Jsonnet which needs endless time or memory is ended soon, that this is reported at the
// Application, and that everything else is rendered.
func TestJsonnetBombs(t *testing.T) {
	for _, bomb := range testall.Sample(jsonnetBombs, 8) {
		t.Run(bomb.name, func(t *testing.T) {
			if bomb.long {
				testall.Long(t)
			}
			t.Parallel()
			files := fstest.MapFS{
				"apps/a.yaml": {Data: []byte(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: bomb, namespace: argocd}
spec:
  destination: {name: in-cluster, namespace: web}
  source: {repoURL: https://git.example.com/r, path: j}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  destination: {name: in-cluster, namespace: web}
  source: {repoURL: https://git.example.com/r, path: web}
`)},
				"j/a.jsonnet":    {Data: []byte(bomb.text)},
				"j/b.libsonnet":  {Data: []byte("(import 'c.libsonnet') + 1")},
				"j/c.libsonnet":  {Data: []byte("(import 'b.libsonnet') + 1")},
				"web/cm.jsonnet": {Data: []byte("{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'cm'}}")},
			}
			got := applied(t, files, nil)
			if !strings.Contains(got, "Application/argocd/bomb\n  failed: j/") && !strings.Contains(got, "Application/argocd/bomb\n  refused: apps/a.yaml:6:54: ") {
				t.Errorf("the bomb is not refused: %.500s", got)
			}
			if !strings.Contains(got, bomb.says) {
				t.Errorf("does not say %q: %.500s", bomb.says, got)
			}
			if !strings.Contains(got, "Application/argocd/web\n  ConfigMap web/cm") {
				t.Errorf("what else is deployed is not rendered")
			}
		})
	}
}
