package chart

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/tree"
)

// Dependency is an entry of `dependencies:` in Chart.yaml and Chart.lock, or in requirements.yaml and
// requirements.lock.
type Dependency struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository"`
}

// maxDependencies limits the dependencies of a chart.
const maxDependencies = 100

// Missing returns the dependencies of the chart in a directory of a tree that are not in its charts/; those of
// its lock file, if there is one.
func Missing(t *tree.Tree, dir string) ([]Dependency, error) {
	all, err := dependencies(t, dir)
	return slices.DeleteFunc(all, func(d Dependency) bool { return vendors(t, dir, d.Name) }), err
}

// Beside returns the directories of a tree that a chart names as dependencies, whether or not they are also in
// its charts/.
func Beside(t *tree.Tree, dir string) []string {
	all, _ := dependencies(t, dir) // rendering the chart reports the error
	var dirs []string
	for _, d := range all {
		at, isDir := strings.CutPrefix(d.Repository, "file://")
		if at = path.Join(dir, at); isDir && at != dir && fs.ValidPath(at) {
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// dependencies returns the dependencies of the first file that lists any: requirements.yaml and its lock file
// precede Chart.yaml and Chart.lock, whatever the chart's apiVersion.
func dependencies(t *tree.Tree, dir string) ([]Dependency, error) {
	for _, name := range []string{"requirements.lock", "Chart.lock", "requirements.yaml", "Chart.yaml"} {
		to := t.Resolve(path.Join(dir, name))
		if to.Err != nil || to.IsDir {
			continue
		}
		data, err := t.Read(to.Real)
		if err != nil {
			return nil, err
		}
		var file struct {
			Dependencies []Dependency `json:"dependencies"`
		}
		if err := yaml.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(file.Dependencies) > maxDependencies {
			return nil, fmt.Errorf("%s has more than %d", name, maxDependencies)
		}
		if name == "requirements.yaml" && file.Dependencies == nil {
			continue
		}
		return file.Dependencies, nil
	}
	return nil, nil
}

// vendors reports whether charts/ of a chart in a directory of a tree contains a chart with a name.
func vendors(t *tree.Tree, dir, name string) bool {
	charts := path.Join(dir, "charts")
	if to := t.Resolve(path.Join(charts, name, "Chart.yaml")); to.Err == nil {
		return true
	}
	entries, _ := fs.ReadDir(t.Fsys, charts) // without the directory there are none
	for _, entry := range entries {
		if rest, ok := strings.CutPrefix(entry.Name(), name+"-"); ok && strings.HasSuffix(rest, ".tgz") && strings.ContainsAny(rest[:1], "v0123456789") {
			return true
		}
	}
	return false
}
