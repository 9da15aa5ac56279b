package hostile

import (
	"fmt"
	"strings"
)

// bombs are small files that ask for endless memory or time.
func bombs() []Case {
	return []Case{
		resource("alias bomb", "once its aliases are expanded", aliasBomb(9)),
		resource("self anchor", "holds an alias of itself", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: &a {b: *a}}\n"),
		resource("self anchor in a list", "holds an alias of itself", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: &a [*a]}\n"),
		resource("merge bomb", "once its aliases are expanded", mergeBomb(9)),
		{Name: "alias bomb in a kustomization", Verdict: "incomplete", Says: "aliases", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nopenapi:\n"+indent(aliasBomb(9)))
		}},
		{Name: "self anchor in a patch", Verdict: "incomplete", Says: "holds an alias of itself", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\npatches: [{path: p.yaml}]\n")
			t.Put("app/p.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: &a {b: *a}\n")
		}},
		{Name: "layering bomb", Verdict: "incomplete", Says: "more than the limit", Head: layers},
		{Name: "circle of kustomizations", Verdict: "incomplete", Says: "cycle", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [other]\n")
			t.Put("app/other/kustomization.yaml", "resources: [..]\n")
		}},
		{Name: "openapi schema that refers to itself", Verdict: "incomplete", Says: "app", Heavy: true, Head: schemaLoop},
		{Name: "openapi schema that is no schema", Verdict: "incomplete", Says: "app", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nopenapi: {path: schema.json}\n")
			t.Put("app/schema.json", `{"definitions": [1]}`)
		}},
		{Name: "empty crds", Verdict: "incomplete", Says: "app", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\ncrds: [crd.yaml]\n")
			t.Put("app/crd.yaml", "")
		}},
		{Name: "slow root", Verdict: "incomplete", Says: "app", Heavy: true, Fatal: true, Head: slow},
	}
}

// resource is a Case whose harm is a resource of app.
func resource(name, says, text string) Case {
	return Case{Name: name, Verdict: "incomplete", Says: says, Head: func(t *Tree, _ *Canary) {
		t.Put("app/cm.yaml", text)
	}}
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// aliasBomb expands to nine to the power of depth strings.
func aliasBomb(depth int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// mergeBomb does it with merge keys.
func mergeBomb(depth int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\nm0: &m0 {a: x, b: x, c: x}\n")
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&b, "m%d: &m%d {<<: *m%d", i, i, i-1)
		for k := range 9 {
			fmt.Fprintf(&b, ", k%d: *m%d", k, i-1)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// layers makes each level include the one before twice.
func layers(t *Tree, _ *Canary) {
	const levels = 24
	for i := range levels {
		next := fmt.Sprintf("../l%d", i+1)
		if i == levels-1 {
			next = "../l"
		}
		for _, side := range []string{"a", "b"} {
			t.Put(fmt.Sprintf("app/l%d%s/kustomization.yaml", i, side), fmt.Sprintf("namePrefix: %s-\nresources: [../l%d]\n", side, i))
		}
		if i < levels-1 {
			t.Put(fmt.Sprintf("app/l%d/kustomization.yaml", i), fmt.Sprintf("resources: [%sa, %sb]\n", next, next))
		} else {
			t.Put(fmt.Sprintf("app/l%d/kustomization.yaml", i), "resources: [cm.yaml]\n")
			t.Put(fmt.Sprintf("app/l%d/cm.yaml", i), configMap("deep", 1))
		}
	}
	t.Put("app/kustomization.yaml", "resources: [l0a, l0b]\n")
}

// schemaLoop makes kustomize follow a reference for ever.
func schemaLoop(t *Tree, _ *Canary) {
	t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nopenapi: {path: schema.json}\npatches: [{path: p.yaml}]\n")
	t.Put("app/cm.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [{name: one}]\n")
	t.Put("app/p.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [{name: two}]\n")
	t.Put("app/schema.json", `{"definitions": {"loop": {"$ref": "#/definitions/loop"}, "v1.Thing": {
  "properties": {"list": {"$ref": "#/definitions/loop"}},
  "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Thing", "version": "v1"}]}}}`)
}

// slow stays just within the limits of rendering, which takes kustomize long.
func slow(t *Tree, _ *Canary) {
	var b strings.Builder
	for i := range 4900 {
		b.WriteString("---\n" + configMap(fmt.Sprintf("c%d", i), 1))
	}
	t.Put("app/cm.yaml", b.String())
}
