package hostile

// programs returns attempts to make kustomize run a program.
func programs() []Case {
	function := func(spec string) string {
		return "resources: [cm.yaml]\ngenerators:\n- |-\n  apiVersion: example.com/v1\n  kind: Run\n  metadata:\n    name: run\n    annotations:\n      config.kubernetes.io/function: |\n        " + spec + "\n"
	}
	script := func(c Case) Case {
		with := c.Head
		c.Head = func(t *Tree, canary *Canary) {
			with(t, canary)
			t.Program("app/run.sh", canary.fill("#!/bin/sh\ncat $FILE; env\n"))
		}
		return c
	}
	return []Case{
		script(kustomization("exec function", "app", function("exec: {path: ./run.sh}"))),
		script(kustomization("exec function as transformer", "app", "resources: [cm.yaml]\ntransformers: [run.yaml]\n")),
		kustomization("container function", "app", function("container: {image: example.com/run, network: true}")),
		kustomization("starlark function", "app", function("starlark: {path: run.star}")),
		kustomization("go plugin", "app", "resources: [cm.yaml]\ngenerators:\n- |-\n  apiVersion: example.com/v1\n  kind: Plugin\n  metadata: {name: p}\n"),
		script(kustomization("exec plugin of the home directory", "app", "resources: [cm.yaml]\nvalidators:\n- |-\n  apiVersion: someteam.example.com/v1\n  kind: Validate\n  metadata: {name: p}\n  argsOneLiner: ./run.sh\n")),
		kustomization("helm charts", "chart http:", "resources: [cm.yaml]\nhelmCharts: [{name: x, repo: 'http://$ADDRESS', version: 1.0.0}]\n"),
		kustomization("helm chart with a post renderer", "helm", "resources: [cm.yaml]\nhelmCharts: [{name: x, releaseName: --post-renderer=./run.sh}]\nhelmGlobals: {chartHome: /}\n"),
		kustomization("helm chart generator", "app", "resources: [cm.yaml]\ngenerators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: x}\n  name: x\n  repo: http://$ADDRESS\n"),
		kustomization("helm chart inflation", "app", "resources: [cm.yaml]\nhelmChartInflationGenerator: [{chartName: x, chartRepoUrl: 'http://$ADDRESS'}]\n"),
	}
}
