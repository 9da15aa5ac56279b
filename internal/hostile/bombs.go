package hostile

import (
	"fmt"
	"strings"
)

// bombs returns small files that need unlimited memory or time.
func bombs() []Case {
	return []Case{
		resource("alias bomb", "once its aliases are expanded", aliasBomb(9)),
		resource("self anchor", "holds an alias of itself", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: &a {b: *a}}\n"),
		resource("self anchor in a list", "holds an alias of itself", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: &a [*a]}\n"),
		resource("merge bomb", "once its aliases are expanded", mergeBomb(9)),
		{Name: "alias bomb in a kustomization", Verdict: "incomplete", Reports: "aliases", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nopenapi:\n"+indent(aliasBomb(9)))
		}},
		{Name: "self anchor in a patch", Verdict: "incomplete", Reports: "holds an alias of itself", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\npatches: [{path: p.yaml}]\n")
			t.Put("app/p.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: &a {b: *a}\n")
		}},
		{Name: "layering bomb", Verdict: "incomplete", Reports: "more than the limit", Heavy: true, Head: layers},
		{Name: "circle of kustomizations", Verdict: "incomplete", Reports: "cycle", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [other]\n")
			t.Put("app/other/kustomization.yaml", "resources: [..]\n")
		}},
		{Name: "openapi schema that refers to itself", Verdict: "incomplete", Reports: "app", Heavy: true, Fatal: true, Head: schemaLoop},
		{Name: "openapi schema that is no schema", Verdict: "incomplete", Reports: "app", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nopenapi: {path: schema.json}\npatches: [{path: p.yaml}]\n")
			t.Put("app/p.yaml", configMap("app", 1))
			t.Put("app/schema.json", `{"definitions": [1]}`)
		}},
		{Name: "empty crds", Verdict: "incomplete", Reports: "app", Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\ncrds: [crd.yaml]\n")
			t.Put("app/crd.yaml", "")
		}},
		{Name: "slow root", Verdict: "incomplete", Reports: "app", Heavy: true, Fatal: true, Unlimited: "failed", Head: func(t *Tree, _ *Canary) { Slow(t, "app") }},
	}
}

// resource returns a Case whose attack is a resource of app.
func resource(name, reports, text string) Case {
	return Case{Name: name, Verdict: "incomplete", Reports: reports, Head: func(t *Tree, _ *Canary) {
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

// Hungry writes a root that renders, with one object that needs some hundred megabytes of
// memory: a bomb just below the limits.
func Hungry(t *Tree, dir string) {
	t.Put(dir+"/kustomization.yaml", "resources: [cm.yaml]\n")
	t.Put(dir+"/cm.yaml", aliasBomb(5))
}

// mergeBomb is aliasBomb with merge keys.
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

// layers makes each level include the one below it many times: 421,875 objects.
func layers(t *Tree, _ *Canary) {
	const levels, copies = 3, 75
	for level := range levels {
		var all []string
		for i := range copies {
			side := fmt.Sprintf("l%d-%d", level, i)
			t.Put("app/"+side+"/kustomization.yaml", fmt.Sprintf("namePrefix: p%d-\nresources: [../l%d]\n", i, level+1))
			all = append(all, "../"+side)
		}
		t.Put(fmt.Sprintf("app/l%d/kustomization.yaml", level), "resources: ["+strings.Join(all, ", ")+"]\n")
	}
	t.Put(fmt.Sprintf("app/l%d/kustomization.yaml", levels), app)
	t.Put(fmt.Sprintf("app/l%d/cm.yaml", levels), configMap("deep", 1))
	t.Put("app/kustomization.yaml", "resources: [l0]\n")
}

// schemaLoop makes kustomize follow an endless chain of references.
func schemaLoop(t *Tree, _ *Canary) {
	t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nopenapi: {path: schema.json}\npatches: [{path: p.yaml}]\n")
	t.Put("app/cm.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [{name: one}]\n")
	t.Put("app/p.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nlist: [{name: two}]\n")
	t.Put("app/schema.json", `{"definitions": {"loop": {"$ref": "#/definitions/loop"}, "v1.Thing": {
  "properties": {"list": {"$ref": "#/definitions/loop"}},
  "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Thing", "version": "v1"}]}}}`)
}

// Slow writes a root within the limits of rendering that takes kustomize seconds: its time
// grows with the square of the number of objects.
func Slow(t *Tree, dir string) {
	var b strings.Builder
	for i := range 2500 {
		b.WriteString("---\n" + configMap(fmt.Sprintf("c%d", i), 1))
	}
	t.Put(dir+"/kustomization.yaml", app)
	t.Put(dir+"/cm.yaml", b.String())
}
