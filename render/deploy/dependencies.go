package deploy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

// resolveDependencies finds the dependencies of a chart in a directory that are not in its charts/, as
// source-controller downloads them: those of Chart.lock, if there is one. in is the directory within source.
func (e *expander) resolveDependencies(n *node, source *tree.Tree, in string) {
	missing, err := chart.Missing(source, in)
	if err != nil {
		n.fail(render.ProblemFailed, "spec.chart.spec.chart", fmt.Sprintf("the dependencies of its chart cannot be read: %v", err))
		return
	}
	for _, d := range missing {
		at, isDir := strings.CutPrefix(d.Repository, "file://")
		switch {
		case d.Repository == "": // Helm reports that it is missing
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

// archived adds a dependency that is an archive, if it was fetched. The first missing one becomes the release's
// problem; the others are still looked up so that they are recorded as needed.
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
	n.failMissing("spec.chart.spec.chart", fmt.Sprintf("a dependency of its chart, %s, is not there: %v", a, err),
		&render.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version})
}
