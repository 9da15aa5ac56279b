package hostile

// escapes returns attempts to read the canary's file, or other files outside of the tree.
func escapes() []Case {
	link := func(name, target string) Case {
		return Case{Name: name, Verdict: "incomplete", Reports: "app", Head: func(t *Tree, c *Canary) {
			t.Link("app/cm.yaml", c.fill(target))
		}}
	}
	return []Case{
		link("symbolic link to an absolute path", "$FILE"),
		link("symbolic link out of the tree", "../../../../../../../../../..$FILE"),
		link("symbolic link to itself", "cm.yaml"),
		link("symbolic link to proc", "/proc/self/environ"),
		{Name: "symbolic link as a directory", Verdict: "incomplete", Reports: "app", Head: func(t *Tree, c *Canary) {
			t.Put("app/kustomization.yaml", c.fill("resources: [top$FILE]\n"))
			t.Link("app/top", "/")
		}},
		{Name: "symbolic link as the configuration", Verdict: "incomplete", Reports: ".preadmit.yaml", Head: func(t *Tree, c *Canary) {
			t.Link(".preadmit.yaml", c.File)
		}},
		kustomization("absolute path", "app", "resources: [$FILE]\n"),
		kustomization("path out of the tree", "app", "resources: [../../../../../../../../../..$FILE]\n"),
		kustomization("generator of an absolute path", "app", "resources: [cm.yaml]\nconfigMapGenerator: [{name: g, files: ['$FILE']}]\n"),
		kustomization("generator of proc", "app", "resources: [cm.yaml]\nconfigMapGenerator: [{name: g, files: [/proc/self/environ]}]\n"),
		{Name: "environment in a generator", Verdict: "failed", Reports: Finding, Head: func(t *Tree, _ *Canary) {
			t.Put("app/kustomization.yaml", "resources: [cm.yaml]\nconfigMapGenerator: [{name: g, envs: [e.env]}]\n")
			t.Put("app/e.env", TokenVariable+"\nsize=7\n")
		}},
		{Name: "submodule", Verdict: "incomplete", Reports: "app", Head: func(t *Tree, c *Canary) {
			t.Put(".gitmodules", c.fill("[submodule \"x\"]\n\tpath = app/x\n\turl = http://$ADDRESS/x\n"))
			t.Submodule("app/x", "1111111111111111111111111111111111111111")
			t.Put("app/kustomization.yaml", "resources: [x]\n")
		}},
	}
}
