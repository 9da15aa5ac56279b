package chart

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
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
	in := vendoredIn(t, dir)
	return slices.DeleteFunc(all, func(d Dependency) bool { return in.has(d.Name) }), err
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

// vendored are the charts in charts/ of a chart.
type vendored struct {
	// archives are the names of archives, and names those of all charts.
	archives []string
	names    func() map[string]bool
}

// vendoredIn returns the charts in charts/ of a chart in a directory of a tree. Helm takes their names from their
// Chart.yaml.
func vendoredIn(t *tree.Tree, dir string) *vendored {
	charts := path.Join(dir, "charts")
	to := t.Resolve(charts)
	entries, _ := fs.ReadDir(t.Fsys, to.Real) // without the directory there are none
	v := &vendored{}
	var dirs, files []string
	for _, entry := range entries {
		at := t.Resolve(path.Join(charts, entry.Name()))
		switch {
		case at.Err != nil, strings.HasPrefix(entry.Name(), "_"), strings.HasPrefix(entry.Name(), "."): // Helm ignores these names
		case at.IsDir:
			dirs = append(dirs, at.Real)
		case path.Ext(entry.Name()) == ".tgz":
			v.archives, files = append(v.archives, entry.Name()), append(files, at.Real)
		}
	}
	v.names = sync.OnceValue(func() map[string]bool {
		names := map[string]bool{}
		for _, dir := range dirs {
			if name, err := NameOf(t, dir); err == nil {
				names[name] = true
			}
		}
		for _, file := range files {
			if data, err := t.Read(file); err == nil {
				names[NameIn(data)] = true
			}
		}
		return names
	})
	return v
}

// has reports whether there is a chart with a name. Archives are only read if none is called as `helm package` calls
// that of the chart.
func (v *vendored) has(name string) bool {
	return slices.ContainsFunc(v.archives, func(file string) bool { return packageOf(file, name) }) || v.names()[name]
}

// packageOf reports whether a file is called as `helm package` calls the archive of a chart with a name.
func packageOf(file, name string) bool {
	version, ok := strings.CutPrefix(file, name+"-")
	version, archive := strings.CutSuffix(version, ".tgz")
	_, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return ok && archive && err == nil
}
