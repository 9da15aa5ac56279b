package hostile

import (
	"fmt"
	"strings"
)

// jsonnet returns Jsonnet programs that need unlimited memory or time or read other files, each with an
// Application.
func jsonnet() []Case {
	return []Case{{Name: "Jsonnet without end", Verdict: "incomplete", Reports: "cannot be evaluated: it takes more than", Heavy: true, Head: jsonnetBombs}}
}

var programsOfJsonnet = []string{
	`local f(x) = f(x + 1) + 1; f(0)`,
	`local d(n, s) = if n == 0 then s else d(n - 1, s + s) tailstrict; d(50, 'aaaaaaaa')`,
	`local d(n, a) = if n == 0 then a else d(n - 1, a + a) tailstrict; d(50, [1, 2])`,
	`std.range(1, 1000000000)`,
	`import 'bomb.jsonnet'`,
	`{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'stolen'}, data: {size: importstr '$FILE'}}`,
	`{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'stolen'}, data: {size: importstr '../../../../../../..$FILE'}}`,
	`{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'stolen'}, data: {size: importstr 'link'}}`,
	`{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'stolen'}, data: {size: importstr '../../.git/config'}}`,
	strings.Repeat("[", 100_000),
}

// jsonnetBombs writes an Argo CD Application for each directory of the base, and for each program.
func jsonnetBombs(t *Tree, c *Canary) {
	var b strings.Builder
	application := func(name, dir string) {
		fmt.Fprintf(&b, "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\nspec: {destination: {name: in-cluster, namespace: default}, source: {repoURL: \"https://github.com/example/fleet\", path: %s}}\n", name, dir)
	}
	for _, name := range []string{"app", "web", "policies"} {
		application(name, name)
	}
	for i, text := range programsOfJsonnet {
		dir := fmt.Sprintf("jsonnet/bomb%d", i)
		application(fmt.Sprintf("bomb%d", i), dir)
		t.Put(dir+"/bomb.jsonnet", c.fill(text))
		if strings.Contains(text, "'link'") {
			t.Link(dir+"/link", c.File)
		}
	}
	t.Put("apps/all.yaml", b.String())
}
