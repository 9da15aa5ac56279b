package hostile

// names returns paths that a terminal, a log, a shell or a browser would interpret. Each
// directory has a denied object, so that all names are printed.
func names() []Case {
	var all []Case
	for _, n := range []struct{ name, dir, reports string }{
		{"option", "--help", "--help"},
		{"short option", "-rf", "-rf"},
		{"option with a value", "--config=/dev/null", "--config=/dev/null"},
		{"newline and a workflow command", "a\n::error file=x::owned\nb", Finding},
		{"carriage return", "a\r::set-output name=x::y", Finding},
		{"older workflow command", "##[error]owned", Finding},
		{"escape sequences", "\x1b[2J\x1b]0;owned\a", Finding},
		{"right to left", "\u202egpj.exe", Finding},
		{"Markdown and HTML", "<img src=x onerror=alert(1)> [x](javascript:x) `@everyone`", Finding},
		{"bytes that are not UTF-8", "\xff\xfe\x80", Finding},
		{"template", "{{.Token}} ${HOME} $(id) `id`", Finding},
	} {
		all = append(all, Case{Name: "directory named like: " + n.name, Verdict: "failed", Reports: n.reports, Head: func(t *Tree, _ *Canary) {
			t.Put(n.dir+"/kustomization.yaml", "resources: ['cm.yaml']\n")
			t.Put(n.dir+"/cm.yaml", configMap("named", 3))
		}})
	}
	return append(all, Case{Name: "resource named like an option", Verdict: "incomplete", Reports: "app", Head: func(t *Tree, _ *Canary) {
		t.Put("app/kustomization.yaml", "resources: ['--output=x', '-']\n")
	}})
}
