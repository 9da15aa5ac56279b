package render

// Needs implements SourceOf.
func (r *kustomizeSource) Needs(root Root) *Inputs {
	in := &Inputs{Trace: newTrace(), Composition: Composition{Generated: map[string]bool{}}}
	c := walk(r.tree, root.Dir, in.Trace)
	traceEntries(r.tree, c, in.Trace)
	in.Problem = c.problem()
	for _, k := range c.files {
		compose(&in.Composition, k)
	}
	return in
}

// Manifests implements SourceOf.
func (r *kustomizeSource) Manifests(root Root) Manifests {
	c := walk(r.tree, root.Dir, newTrace())
	m := Manifests{Values: map[string]bool{}, Lines: map[string]bool{}, Patches: c.weight.patches}
	for _, e := range c.entries {
		if e.kind != refFile || len(e.at) < 3 || e.target == "" {
			continue
		}
		real := r.tree.resolve(e.target).real
		switch used := m.Values[real] || m.Lines[real]; {
		case used:
		case e.at[2] == "files":
			m.Values[real] = true
		case e.at[2] == "envs", e.at[2] == "env":
			m.Lines[real] = true
		}
	}
	known := map[string]bool{}
	add := func(file string) {
		if !known[file] && !m.Values[file] && !m.Lines[file] {
			known[file] = true
			m.Files = append(m.Files, file)
		}
	}
	for _, k := range c.files {
		add(k.path)
	}
	for _, e := range c.entries {
		if to := r.tree.resolve(e.target); e.target != "" && to.err == nil && !to.isDir {
			add(to.real)
		}
	}
	return m
}

// compose notes how a kustomization puts words together.
func compose(in *Composition, k *kustomization) {
	s := &k.spec
	in.Free = in.Free || k.err != nil || len(s.Replacements)+len(s.Vars)+len(s.Configurations)+len(s.Crds)+
		len(s.Generators)+len(s.Transformers)+len(s.OpenAPI) > 0
	in.Patched = in.Patched || len(s.Patches)+len(s.PatchesJson6902) > 0
	for _, affix := range []string{s.NamePrefix, s.NameSuffix} {
		if affix != "" {
			in.Affixes = append(in.Affixes, affix)
		}
	}
	if len(s.ConfigMapGenerator) > 0 {
		in.Generated["ConfigMap"] = true
	}
	if len(s.SecretGenerator) > 0 {
		in.Generated["Secret"] = true
	}
}
