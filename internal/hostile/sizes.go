package hostile

import (
	"fmt"
	"strings"
)

// sizes returns large amounts of allowed content.
func sizes() []Case {
	return []Case{
		{Name: "100 MB file", Verdict: "incomplete", Reports: "more than the limit", Heavy: true, Large: true, Head: func(t *Tree, _ *Canary) {
			t.Put("app/cm.yaml", configMap("app", 1)+strings.Repeat("# 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abc\n", 100<<20/64))
		}},
		{Name: "200,000 files", Verdict: "failed", Reports: Finding, Heavy: true, Large: true, Head: func(t *Tree, _ *Canary) {
			for i := range 200_000 {
				t.Put(fmt.Sprintf("many/%03d/%d.yaml", i%1000, i), fmt.Sprintf("x: %d\n", i))
			}
		}},
		{Name: "50 levels", Verdict: "failed", Reports: Finding, Head: func(t *Tree, _ *Canary) {
			dir := "app"
			for i := range 50 {
				t.Put(dir+"/kustomization.yaml", fmt.Sprintf("resources: [level%d]\nnamePrefix: p\n", i))
				dir += fmt.Sprintf("/level%d", i)
			}
			t.Put(dir+"/kustomization.yaml", app)
			t.Put(dir+"/cm.yaml", configMap("deep", 5))
		}},
		{Name: "9,000 levels of YAML", Verdict: "failed", Reports: "app", Head: func(t *Tree, _ *Canary) {
			t.Put("app/cm.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: "+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+"}\n")
		}},
		{Name: "mapping of 100,000 keys", Verdict: "incomplete", Reports: "more than the limit", Head: func(t *Tree, _ *Canary) {
			var b strings.Builder
			b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n")
			for i := range 100_000 {
				fmt.Fprintf(&b, "  k%d: x\n", i)
			}
			t.Put("app/cm.yaml", b.String())
		}},
		{Name: "20,000 documents", Verdict: "incomplete", Reports: "more than the limit", Heavy: true, Head: func(t *Tree, _ *Canary) {
			t.Put("app/cm.yaml", strings.Repeat("---\n"+configMap("app", 1), 20_000))
		}},
	}
}
