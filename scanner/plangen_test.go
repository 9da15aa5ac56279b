package scanner_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// input returns a repository and a change of it.
func (g *planGenerator) input() scanner.Input {
	base := map[string]string{}
	for i := range 3 + g.IntN(6) {
		g.addRoot(base, fmt.Sprintf("r%d", i))
	}
	if !g.oneIn(4) {
		base["policies/o.yaml"] = g.policy() + "---\n" + g.binding() + "---\n" + g.policy() + "---\n" + g.binding()
	}
	if g.oneIn(4) {
		base[".given/policies.yaml"] = g.documents()
	}
	if g.oneIn(6) {
		base["links/l"] = linkTo + choose(g, "../r0", "../r1", "../r0/o.yaml", "../nowhere", "../../out")
		base["r9/kustomization.yaml"] = "resources: [../links/" + choose(g, "l", "l/o.yaml", "l/../r2") + "]\n"
	}
	head := maps.Clone(base)
	for range 1 + g.IntN(4)/3 {
		g.change(head)
	}
	if g.oneIn(6) {
		g.relink(head)
	}
	in := inputOf(mapFS(base), mapFS(head))
	g.configure(&in)
	return in
}

func mapFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, data := range files {
		if target, ok := strings.CutPrefix(data, linkTo); ok {
			fsys[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
			continue
		}
		fsys[name] = &fstest.MapFile{Data: []byte(data), Mode: 0o644}
	}
	return fsys
}

// linkTo is the prefix for the target of a symbolic link.
const linkTo = "-> "

// relink replaces a file or directory, as the last change: by a symbolic link, or a file by a
// directory.
func (g *planGenerator) relink(files map[string]string) {
	names := slices.Sorted(maps.Keys(files))
	name := choose(g, names...)
	targets := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name || strings.HasPrefix(files[n], linkTo) })
	switch text := files[name]; g.IntN(4) {
	case 0:
		files["links/l"] = linkTo + choose(g, "../r0", "../r1", "../r2")
	case 1:
		if len(targets) > 0 { // no loops, which fstest.MapFS does not support
			files[name] = linkTo + strings.Repeat("../", strings.Count(name, "/")) + choose(g, targets...)
		}
	case 2:
		delete(files, name)
		files[name+"/"+choose(g, "o.yaml", "kustomization.yaml")] = text
	case 3:
		dir := path.Dir(name)
		for _, name := range names {
			if below, ok := strings.CutPrefix(name, dir+"/"); ok {
				files["elsewhere/"+below] = files[name]
				delete(files, name)
			}
		}
		files[dir] = linkTo + "elsewhere"
	}
}

// configure sometimes adds policies, context and targets to a scan.
func (g *planGenerator) configure(in *scanner.Input) {
	c := &in.Config
	if _, err := in.Base.FS.Open(".given/policies.yaml"); err == nil {
		c.Policies = []string{choose(g, ".given", ".given/policies.yaml")}
	}
	if _, err := in.Base.FS.Open("r1"); err == nil && g.oneIn(8) {
		c.Context = []string{"r1"}
	}
	switch g.IntN(8) {
	case 0:
		c.Targets = []config.Target{{Name: "one", Roots: []string{"r0", "r1", "r2"}}, {Name: "two", Roots: []string{"r[1-9]"}}}
	case 1:
		c.Roots = []string{"r[0-2]"}
	case 2:
		in.Extra = []scanner.Extra{{Name: "extra.yaml", FS: mapFS(map[string]string{"extra.yaml": g.documents()})}}
	}
}

// documents returns the documents of a file.
func (g *planGenerator) documents() string {
	objects := []string{g.object()}
	for range g.IntN(3) {
		objects = append(objects, g.object())
	}
	if g.oneIn(8) {
		return g.list(objects)
	}
	return g.spell(strings.Join(objects, "---\n"))
}

func (g *planGenerator) list(objects []string) string {
	text := "apiVersion: v1\nkind: List\nitems:\n"
	for _, o := range objects {
		text += "-" + indent(o, "  ")[1:]
	}
	return text
}

// addRoot adds a directory that is a root, or a base of other roots.
func (g *planGenerator) addRoot(files map[string]string, dir string) {
	files[dir+"/o.yaml"] = g.documents()
	if g.oneIn(2) {
		files[dir+"/more.yaml"] = g.documents()
	}
	if g.oneIn(2) {
		files[dir+"/kustomization.yaml"] = g.kustomization(files, dir)
	}
}

func (g *planGenerator) kustomization(files map[string]string, dir string) string {
	resources := []string{"o.yaml"}
	if files[dir+"/more.yaml"] != "" {
		resources = append(resources, "more.yaml")
	}
	switch others := slices.Sorted(maps.Keys(files)); g.IntN(6) {
	case 0: // a base, or a file beside
		other := choose(g, others...)
		resources = append(resources, "../"+strings.TrimSuffix(other, "/kustomization.yaml"))
	case 1:
		resources = append(resources, "https://example.com/remote.yaml")
	case 2:
		resources = append(resources, "absent.yaml")
	}
	text := "resources: [" + strings.Join(resources, ", ") + "]\n"
	if g.oneIn(4) {
		text += "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"
	}
	for range g.IntN(3) {
		if more := g.transformation(); !strings.Contains(text, more[:strings.IndexByte(more, ':')+1]) {
			text += more
		}
	}
	return text
}

// transformation returns a field of a kustomization that changes kinds, names or namespaces, or
// generates objects.
func (g *planGenerator) transformation() string {
	patch := func(operations string) string {
		return "patches:\n- target: {kind: " + choose(g, "ConfigMap", "Pod", "Deployment", "Namespace", "LimitRange") + "}\n  patch: " + operations + "\n"
	}
	return choose(g,
		func() string { return "namespace: " + g.namespace() + "\n" },
		func() string { return "namePrefix: my-\n" },
		func() string { return "nameSuffix: s\n" },
		func() string {
			return choose(g, "configMapGenerator", "configmapgenerator") + ":\n- {name: " + choose(g, "limits", "x") + ", literals: [level=" + choose(g, "1", "2") + "]}\ngeneratorOptions: {disableNameSuffixHash: true}\n"
		},
		func() string { return "labels:\n- pairs: {env: prod}\n" },
		func() string { return patch(`'- {op: replace, path: /metadata/name, value: ` + g.name() + `}'`) },
		func() string {
			return patch(choose(g, `"- {op: replace, path: /kind, value:\nNamespace}"`, `'[{"op": "replace", "path": "/kind", "value": "Name\u0073pace"}]'`,
				`"[{\"op\": \"replace\", \"path\": \"/kind\", \"value\": \"Name\\u0073pace\"}]"`,
				`"- {op: replace, path: /kind, value: \"Name\\\n  space\"}"`,
				`'[{"op": "move", "from": "/metadata/name", "path": "/metadata/namespace"}, {"op": "add", "path": "/metadata/name", "value": "limits"}]'`,
				`'[{"op": "replace", "path": "/metadata/name", "value": "team-b"}, {"op": "replace", "path": "/kind", "value": "Namespace"}]'`))
		},
		func() string {
			return "replacements:\n- source: {kind: ConfigMap, fieldPath: data.level}\n  targets:\n  - {select: {kind: Namespace}, fieldPaths: [metadata.labels.env]}\n"
		},
	)()
}

// change makes one change.
func (g *planGenerator) change(files map[string]string) {
	names := slices.Sorted(maps.Keys(files))
	name := choose(g, names...)
	for i := 0; i < 5 && strings.Contains(files[name], "ValidatingAdmissionPolicy"); i++ {
		name = choose(g, names...) // a change of policies affects everything
	}
	dir, base := path.Dir(name), path.Base(name)
	documents := strings.Split(files[name], "---\n")
	switch g.IntN(10) {
	case 0:
		delete(files, name)
	case 1:
		files[name] += "\n# a comment\n"
	case 2:
		files[dir+"/README.md"] = "text"
	case 3:
		slices.Reverse(documents)
		files[name] = strings.Join(documents, "---\n")
	case 4:
		files[name] = strings.Join(append(documents, documents[0]), "\n---\n")
	case 5:
		files["moved-"+dir+"/"+base] = files[name]
		delete(files, name)
	case 6:
		g.addRoot(files, dir)
	case 7:
		files[name] = g.edit(files[name])
	default:
		if base == "kustomization.yaml" {
			files[name] = g.kustomization(files, dir)
		} else {
			files[name] = g.documents()
		}
	}
}

// edit replaces words of a file.
func (g *planGenerator) edit(text string) string {
	words := []string{"prod", "dev", "1Gi", "100Mi", "latest", "limits", "team-b", "restricted", "'x'", "Deny", "level"}
	from, to := choose(g, words...), choose(g, words...)
	return strings.ReplaceAll(text, from, to)
}
