package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
)

// dependency is an entry of `dependencies:` in Chart.yaml and Chart.lock.
type dependency struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository"`
}

// maxDependencies is how many dependencies of a chart are looked up.
const maxDependencies = 100

// resolveDependencies finds the dependencies of a chart in a directory that are not in its
// charts/, as source-controller gets them: those of Chart.lock, if there is one. in is the
// directory in the tree.
func (e *expander) resolveDependencies(n *node, in string) {
	asked, err := e.dependencies(in)
	if err != nil {
		n.fail(render.ProblemFailed, "spec.chart.spec.chart", fmt.Sprintf("the dependencies of its chart cannot be read: %v", err))
		return
	}
	for _, d := range asked {
		if e.isVendored(in, d.Name) {
			continue
		}
		at, isDir := strings.CutPrefix(d.Repository, "file://")
		switch {
		case d.Repository == "": // Helm says that it is missing
		case isDir && !fs.ValidPath(path.Join(n.root.Unit.Release.Dir, at)):
			n.fail(render.ProblemFailed, "spec.chart.spec.chart", fmt.Sprintf("a dependency of its chart, %s, leads out of its source", d.Repository))
			return
		case isDir:
			n.root.Unit.Release.Dependencies = append(n.root.Unit.Release.Dependencies, render.Dependency{Dir: path.Join(n.root.Unit.Release.Dir, at)})
		default:
			e.archived(n, artifact.Artifact{Kind: artifact.Chart, URL: d.Repository, Name: d.Name, Version: d.Version})
		}
	}
}

// archived adds a dependency that is an archive, if it is there. The first that is not is why the
// release is not rendered; others are looked up all the same, so that they are known.
func (e *expander) archived(n *node, a artifact.Artifact) {
	_, pin, err := e.renderer.Tree().Bytes(a)
	missing := new(artifact.MissingError)
	switch {
	case err == nil:
		n.root.Unit.Release.Dependencies = append(n.root.Unit.Release.Dependencies, render.Dependency{Chart: a, Digest: pin.Digest})
		return
	case n.root.Unit.Problem != nil:
		return
	case errors.As(err, &missing):
		err = fmt.Errorf("%s; %s", missing.Why, missing.Hint)
	default:
		err = errors.New("it is not fetched: preadmit fetch gets it")
	}
	n.lacks("spec.chart.spec.chart", fmt.Sprintf("a dependency of its chart, %s, is not there: %v", a, err),
		&render.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version})
}

// dependencies are those of the chart in a directory of the tree.
func (e *expander) dependencies(in string) ([]dependency, error) {
	for _, name := range []string{"Chart.lock", "Chart.yaml"} {
		to := e.renderer.Tree().Resolve(path.Join(in, name))
		if to.Err != nil || to.IsDir {
			continue
		}
		data, err := e.renderer.Tree().Read(to.Real)
		if err != nil {
			return nil, err
		}
		var file struct {
			Dependencies []dependency `json:"dependencies"`
		}
		if err := yaml.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(file.Dependencies) > maxDependencies {
			return nil, fmt.Errorf("%s has more than %d", name, maxDependencies)
		}
		return file.Dependencies, nil
	}
	return nil, nil
}

// isVendored reports whether the charts/ of a chart have a chart of a name.
func (e *expander) isVendored(in, name string) bool {
	charts := path.Join(in, "charts")
	if to := e.renderer.Tree().Resolve(path.Join(charts, name, "Chart.yaml")); to.Err == nil {
		return true
	}
	entries, _ := fs.ReadDir(e.renderer.Tree().Fsys, charts) // none is nothing
	for _, entry := range entries {
		if rest, ok := strings.CutPrefix(entry.Name(), name+"-"); ok && strings.HasSuffix(rest, ".tgz") && strings.ContainsAny(rest[:1], "v0123456789") {
			return true
		}
	}
	return false
}
