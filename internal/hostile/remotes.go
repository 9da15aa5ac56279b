package hostile

// remotes returns attempts to make kustomize use the network, with the canary's address
// where possible.
func remotes() []Case {
	const reports = "app"
	var all []Case
	for _, form := range []struct{ name, resource string }{
		{"http file", "http://$ADDRESS/x.yaml"},
		{"http without a file", "http://$ADDRESS/a/b"},
		{"https", "https://$ADDRESS/a/b//c?ref=main"},
		{"http with a query", "http://$ADDRESS/a/b?ref=v1&timeout=1s&submodules=false"},
		{"credentials in the URL", "http://user:pass@$ADDRESS/a/b.git"},
		{"git prefix", "git::http://$ADDRESS/a/b.git"},
		{"git suffix", "http://$ADDRESS/a/b.git//base"},
		{"_git path", "http://$ADDRESS/org/_git/repo"},
		{"ssh", "ssh://git@$ADDRESS/a/b"},
		{"git scheme", "git://$ADDRESS/a/b"},
		{"scp", "git@127.0.0.1:a/b.git"},
		{"scp of another user", "user@127.0.0.1:a/b"},
		{"git prefix of scp", "git::git@127.0.0.1:a/b"},
		{"github without a scheme", "github.com/owner/repo//base?ref=main"},
		{"github scp", "git@github.com:owner/repo.git"},
		{"gh short form", "gh:owner/repo"},
		{"file URL", "file://$FILE"},
		{"file URL of git", "git::file://$FILE"},
		{"capital letters", "HTTP://$ADDRESS/x.yaml"},
		{"option for git", "--upload-pack=touch@127.0.0.1:a/b"},
	} {
		all = append(all, kustomization("remote base: "+form.name, reports, "resources: [cm.yaml, '"+form.resource+"']\n"))
	}
	const url = "http://$ADDRESS/x.yaml"
	for _, field := range []struct{ name, text string }{
		{"bases", "bases: ['" + url + "']"},
		{"components", "components: ['http://$ADDRESS/a/b']"},
		{"patches", "patches: [{path: '" + url + "'}]"},
		{"patchesStrategicMerge", "patchesStrategicMerge: ['" + url + "']"},
		{"patchesJson6902", "patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: app}, path: '" + url + "'}]"},
		{"configMapGenerator envs", "configMapGenerator: [{name: g, envs: ['" + url + "']}]"},
		{"secretGenerator env", "secretGenerator: [{name: g, env: '" + url + "'}]"},
		{"crds", "crds: ['" + url + "']"},
		{"openapi", "openapi: {path: '" + url + "'}"},
		{"configurations", "configurations: ['" + url + "']"},
		{"generators", "generators: ['" + url + "']"},
		{"transformers", "transformers: ['" + url + "']"},
		{"validators", "validators: ['" + url + "']"},
		{"replacements", "replacements: [{path: '" + url + "'}]"},
	} {
		all = append(all, kustomization("http in "+field.name, reports, "resources: [cm.yaml]\n"+field.text+"\n"))
	}
	file := kustomization("http in configMapGenerator files", Finding, "resources: [cm.yaml]\nconfigMapGenerator: [{name: g, files: ['"+url+"']}]\n")
	file.Verdict = "failed" // only its value is not known
	return append(all, file)
}
