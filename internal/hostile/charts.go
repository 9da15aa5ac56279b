package hostile

import (
	"fmt"
	"strings"
)

// charts returns charts whose templates need unlimited memory or time, each with a HelmRelease.
func charts() []Case {
	return []Case{{Name: "templates of charts without end", Verdict: "failed", Reports: "a value has more than the limit", Heavy: true, Head: chartBombs}}
}

// templates need far more memory or time in Helm than their length suggests, or crash it. The value x of
// their charts is a template that calls itself.
var templates = []string{
	`{{ tpl .Values.x . }}`,
	`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
	`{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
	`{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`,
	`{{ range until 1000000000 }}{{ end }}`,
	`{{ untilStep 0 9223372036854775807 4611686018427387904 }}`,
	`{{ seq 0 1 9223372036854775807 }}`,
	`{{ range 9223372036854775807 }}{{ end }}`,
	`{{ range until 3000 }}{{ range until 3000 }}{{ range until 3000 }}{{ end }}{{ end }}{{ end }}`,
	`{{ repeat 1000000000 "a" }}`,
	`{{ repeat 30000 (repeat 30000 "a") }}`,
	`{{ nindent 1000000000 "a" }}`,
	`{{ repeat 30000 "\n" | indent 30000 }}`,
	`{{ $x := "aaaa" }}{{ range until 64 }}{{ $x = print $x $x }}{{ end }}{{ $x }}`,
	`{{ $x := "aaaa" }}{{ range until 64 }}{{ $x = cat $x $x }}{{ end }}{{ $x }}`,
	`{{ $x := list 1 }}{{ range until 64 }}{{ $x = concat $x $x }}{{ end }}`,
	`{{ $x := list 1 }}{{ range until 64 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}`,
	`{{ $x := dict }}{{ range until 64 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ $x }}`,
	`{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $x }}`,
	`{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toYaml $x }}`,
	`{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toJson $x }}`,
	`{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $y := mergeOverwrite (dict) $x }}`,
	`{{ range until 100000 }}{{ derivePassword 1 "long" "a" "b" "c" }}{{ end }}`,
	`{{ regexReplaceAll "a*" (repeat 100000 "a") (repeat 100000 "b") }}`,
}

// chartBombs writes a Flux cluster with the objects of the base, and a release of each bomb.
func chartBombs(t *Tree, _ *Canary) {
	var b strings.Builder
	b.WriteString("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {interval: 1m, url: \"https://github.com/example/fleet\"}\n")
	for _, name := range []string{"flux-system", "app", "web", "policies"} {
		dir := name
		if name == "flux-system" {
			dir = "clusters/one"
		}
		fmt.Fprintf(&b, "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\nspec: {interval: 1m, path: ./%s, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n", name, dir)
	}
	for i, text := range templates {
		chart := fmt.Sprintf("charts/bomb%d", i)
		t.Put(chart+"/Chart.yaml", "{apiVersion: v2, name: bomb, version: 1.0.0}\n")
		t.Put(chart+"/values.yaml", "x: \"{{ tpl .Values.x . }}\"\n")
		t.Put(chart+"/templates/cm.yaml", text)
		fmt.Fprintf(&b, "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: bomb%d, namespace: app}\nspec: {interval: 1m, chart: {spec: {chart: ./%s, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}}\n", i, chart)
	}
	t.Put("clusters/one/sync.yaml", b.String())
}
