package chart

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// NameOf returns the name in the Chart.yaml of a directory of a tree.
func NameOf(t *tree.Tree, dir string) (string, error) {
	var m struct {
		Name string `json:"name"`
	}
	data, _, err := t.Load(path.Join(dir, "Chart.yaml"), tree.NewTrace())
	if err == nil {
		err = yaml.Unmarshal(data, &m)
	}
	return m.Name, err
}

// ReleaseName returns a name for the release of a chart that has none: the chart's name without characters
// that Helm does not accept in names of releases.
func ReleaseName(chart string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.ToLower(chart), ".") {
		part = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, part)
		if part = strings.Trim(part, "-"); part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, ".")
	name = strings.TrimRight(name[:min(len(name), maxReleaseName)], "-.")
	return cmp.Or(name, "release-name") // the name that `helm template` uses
}

// maxReleaseName is the maximum length of the name of a release.
const maxReleaseName = 53

// ValuesOfCI returns the values files in ci/ of a chart, with which it is tested.
func ValuesOfCI(t *tree.Tree, dir string) []string {
	to := t.Resolve(path.Join(dir, "ci"))
	if to.Err != nil || !to.IsDir {
		return nil
	}
	entries, err := fs.ReadDir(t.Fsys, to.Real)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if ext := path.Ext(name); !entry.IsDir() && strings.Contains(name, "values") && (ext == ".yaml" || ext == ".yml") {
			names = append(names, path.Join(dir, "ci", name))
		}
	}
	slices.Sort(names)
	return names
}

// FieldAt returns where a field of the Chart.yaml of a directory of a tree is written.
func FieldAt(t *tree.Tree, dir, field string) tree.Position {
	at := tree.Position{Path: path.Join(dir, "Chart.yaml"), Line: 1}
	var doc yamlv3.Node
	data, _, err := t.Load(at.Path, tree.NewTrace())
	if err != nil || yamlv3.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return at
	}
	if key, _ := origin.Child(doc.Content[0], field); key != nil {
		at.Line, at.Column = key.Line, key.Column
	}
	return at
}
