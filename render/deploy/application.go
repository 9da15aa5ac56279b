package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/fluxtypes"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

// ArgoCD is the configuration of Argo CD that is not in the tree. The zero value is the default.
type ArgoCD struct {
	// Namespace is the namespace of Argo CD; empty means argocd.
	Namespace string
	// Tracking is the resource tracking method; empty means annotation.
	Tracking string
	// BuildOptions are kustomize.buildOptions.
	BuildOptions string
	// KubeVersion is the version of clusters, and APIVersions are the API versions that they serve; empty means what is
	// otherwise known.
	KubeVersion string
	APIVersions []string
	// Revisions are names of the branch that is judged; empty means HEAD, main and master.
	Revisions []string
	// Applications are Applications and ApplicationSets that the repository does not hold, in JSON.
	Applications [][]byte
	// Clusters are the clusters registered in Argo CD, without its own; nil if they are not known.
	Clusters []appset.Cluster
	// Generators are results of generators that only Argo CD can evaluate.
	Generators []appset.Generator
}

func (a *ArgoCD) namespace() string { return cmp.Or(a.Namespace, "argocd") }

// argoRef returns the reference to an object of Argo CD. An object without a namespace is in that of Argo CD.
func (e *expander) argoRef(h *objects.Header) render.ObjectRef {
	ref := h.Ref()
	if h.Metadata.Namespace == "" {
		ref.Namespace = e.opts.ArgoCD.namespace()
	}
	return ref
}

// addApplication adds the unit that an Application defines, unless its cluster already has it.
func (e *expander) addApplication(parent *node, c *cluster, k objects.Held) *node {
	n := &node{cluster: c, parent: parent}
	if parent != nil {
		n.depth = parent.depth + 1
	}
	key := unitKey{c.name, e.argoRef(k.Header)}
	if known := e.units[key]; known != nil {
		if (known.parent != parent || parent == nil) && !e.isBelow(parent, known) && !(&render.Unit{Object: known.root.Unit.Object}).Same(&render.Unit{Object: k.Object.JSON}) {
			e.appliedDifferently(known, n, k)
		}
		return nil
	}
	e.units[key] = n
	e.nodes = append(e.nodes, n)
	u := &render.Unit{
		Object: k.Object.JSON, Parent: k.Root, Index: k.Object.Index, Entry: parent == nil, Cluster: c.name,
		Checkout: render.Checkout{Top: "."}, Origins: e.origins.of,
		Application: &render.Application{
			Instance: e.instance(key.object), Tracking: cmp.Or(e.opts.ArgoCD.Tracking, "annotation"),
			KubeVersion: cmp.Or(e.opts.ArgoCD.KubeVersion, e.opts.KubeVersion, defaultKubeVersion), APIVersions: e.opts.ArgoCD.APIVersions,
		},
	}
	e.argo[c.name].Set(u.Application, e.opts.ArgoCD.Tracking, e.opts.ArgoCD.BuildOptions)
	n.root = render.Root{RootID: render.RootID{Kind: render.KindArgoCD, Dir: k.Root.Dir, Object: key.object, Cluster: c.name}, Unit: u}
	var err error
	if n.app, err = argocd.Parse(u.Object); err != nil {
		n.app = &argocd.Application{}
		n.fail(render.ProblemFailed, "spec", err.Error())
		return n
	}
	u.Apply, u.Cluster = n.app.Apply(e.opts.ArgoCD.namespace()), n.app.Spec.Destination.Cluster(c.name)
	e.checkApplication(n, k)
	var field string
	if u.Apply.Ignored, field, err = n.app.Spec.Ignored(); err != nil {
		n.fail(render.ProblemFailed, field, err.Error())
	}
	return n
}

// instance returns the instance name that Argo CD gives an Application.
func (e *expander) instance(ref render.ObjectRef) string {
	if ref.Namespace == e.opts.ArgoCD.namespace() {
		return ref.Name
	}
	return ref.Namespace + "_" + ref.Name
}

// checkApplication sets the problem of an Application that its object shows not to be renderable.
func (e *expander) checkApplication(n *node, k objects.Held) {
	for _, unknown := range k.Unknown(argocd.Decides) {
		if len(unknown.Path) == 0 || unknown.Path[0] == "spec" || unknown.Path[0] == "metadata" && len(unknown.Path) == 2 {
			n.fail(render.ProblemRefused, "spec", fmt.Sprintf("the field %s of the Application is not known: %s", unknown.Field(), unknown.Reason))
			return
		}
	}
	sources := n.app.AllSources()
	for i := range sources {
		if s := &sources[i]; s.Chart == "" && s.RepoURL != "" && !s.IsReference() && e.isSelfSource(s) {
			n.root.Dir = paths.InTree(s.Path)
			break
		}
	}
	field, invalid := n.app.Invalid()
	switch {
	case n.app.Spec.SourceHydrator != nil:
		n.fail(render.ProblemRefused, "spec.sourceHydrator", "the source hydrator of Argo CD makes what is applied, on another branch: that is not followed")
	case invalid != "":
		n.fail(render.ProblemFailed, field, invalid)
	case n.repeats() > maxRepeats:
		n.fail(render.ProblemRefused, "spec", fmt.Sprintf("cycle of Applications: those that apply %s apply it again under another name, without end", n.root.Dir))
	case n.depth > maxDepth:
		n.fail(render.ProblemRefused, "", fmt.Sprintf("the Application is applied by %d others, one by the other: they may make each other without end", maxDepth))
	case len(e.nodes) > maxUnits:
		n.fail(render.ProblemRefused, "", fmt.Sprintf("there are more than %d units", maxUnits))
	}
}

// resolveApplication finds all sources of an Application, even if some of them are missing.
func (e *expander) resolveApplication(n *node) error {
	sources, u := n.app.AllSources(), n.root.Unit
	var problem *render.Problem
	var lacks *render.Artifact
	for i := range sources {
		field := n.app.SourceField(i)
		from, why := e.sourceOf(n, &sources[i], field)
		u.Application.Sources = append(u.Application.Sources, from)
		if why != "" {
			n.fail(render.ProblemRefused, field+".repoURL", why)
			u.Artifact = from.Artifact
			if from.Artifact != nil {
				from.Artifact.Locate = u.Problem.Locate
			}
		}
		if problem == nil {
			problem, lacks = u.Problem, u.Artifact
		}
		u.Problem, u.Artifact = nil, nil
	}
	u.Problem, u.Artifact, n.resolved = problem, lacks, true
	if known := e.kinds[u.Cluster]; len(known) > 0 && problem == nil {
		d, _ := e.renderer.Declared(n.root)
		u.Application.Definitions = known.Mentioned(d)
	}
	return nil
}

// sourceOf returns the files or the chart of a source. If they are missing, why is the reason.
func (e *expander) sourceOf(n *node, s *argocd.Source, field string) (from render.ApplicationSource, why string) {
	switch {
	case s.RepoURL == "":
		n.fail(render.ProblemFailed, field, "the source names no repository: it needs a repoURL")
		return from, ""
	case s.Chart != "":
		return e.chartSource(s)
	case strings.HasPrefix(s.RepoURL, "oci://"):
		return from, fmt.Sprintf("its source %s is an OCI artifact with files, which is not fetched", s.RepoURL)
	case e.isSelfSource(s):
		e.chartDependencies(n, &from, ".", s, field)
		return from, ""
	}
	from.Artifact = &render.Artifact{Kind: render.ArtifactGit, URL: s.RepoURL, Version: s.GitRevision(), Submodules: true}
	source := fmt.Sprintf("its source is not this repository but %s", s.RepoURL)
	if e.isOwn(s.RepoURL) {
		source = fmt.Sprintf("its source has the revision %s of this repository, not what the change makes of it", s.TargetRevision)
	}
	top, absent := e.renderer.Tree().Mounted(source, from.Artifact.Requested())
	if absent != "" {
		return from, absent
	}
	from.Artifact.Locate = n.locator(field + ".repoURL")
	e.chartDependencies(n, &from, top, s, field)
	return from, ""
}

// isSelfSource reports whether a source is the judged branch of this repository.
func (e *expander) isSelfSource(s *argocd.Source) bool {
	return e.isOwn(s.RepoURL) && s.IsOfBranch(e.opts.ArgoCD.Revisions)
}

// isOwn reports whether a URL is this repository's.
func (e *expander) isOwn(url string) bool {
	return e.isRemote(url) || e.assumed != "" && fluxtypes.Address(url) == e.assumed
}

// chartSource finds the archive of a chart.
func (e *expander) chartSource(s *argocd.Source) (from render.ApplicationSource, why string) {
	a := artifact.OfChart(s.RepoURL, s.Chart, s.TargetRevision)
	from.Artifact = &render.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version}
	_, pin, err := e.renderer.Tree().Bytes(a)
	if err != nil {
		return from, tree.WhyAbsent(a, err)
	}
	from.Digest = pin.Digest
	return from, ""
}

// chartDependencies adds the dependencies of a chart in a directory that are not in its charts/, as
// `helm dependency build` downloads them.
func (e *expander) chartDependencies(n *node, from *render.ApplicationSource, top string, s *argocd.Source, field string) {
	in := path.Join(top, path.Clean("/" + s.Path)[1:])
	if to := e.renderer.Tree().Resolve(path.Join(in, "Chart.yaml")); to.Err != nil || to.IsDir || argocd.ToolOf(e.renderer.Tree(), s, in) != argocd.ToolHelm {
		return
	}
	missing, err := chart.Missing(e.renderer.Tree(), in)
	if err != nil {
		n.fail(render.ProblemFailed, field+".path", fmt.Sprintf("the dependencies of its chart cannot be read: %v", err))
		return
	}
	if len(missing) > 0 {
		if err := chart.Stale(e.renderer.Tree(), in); err != nil {
			n.fail(render.ProblemFailed, field+".path", fmt.Sprintf("error building helm chart dependencies of %s: %v", in, err))
			return
		}
	}
	for _, d := range missing {
		at, isDir := strings.CutPrefix(d.Repository, "file://")
		dir := path.Join(path.Clean("/" + s.Path)[1:], at)
		switch {
		case d.Repository == "": // Helm reports that it is missing
		case isDir && (dir == ".." || strings.HasPrefix(dir, "../")):
			n.fail(render.ProblemFailed, field+".path", fmt.Sprintf("a dependency of its chart, %s, leads out of its source", d.Repository))
			return
		case isDir:
			from.Dependencies = append(from.Dependencies, render.Dependency{Dir: dir})
		default:
			e.chartDependency(n, from, d, field)
		}
		if n.root.Unit.Problem != nil {
			return
		}
	}
}

func (e *expander) chartDependency(n *node, from *render.ApplicationSource, d chart.Dependency, field string) {
	a := artifact.OfChart(d.Repository, d.Name, d.Version)
	_, pin, err := e.renderer.Tree().Bytes(a)
	if err == nil {
		from.Dependencies = append(from.Dependencies, render.Dependency{Chart: a, Digest: pin.Digest})
		return
	}
	why := "it is not fetched: preadmit fetch gets it"
	if missing := new(artifact.MissingError); errors.As(err, &missing) {
		why = missing.Why + "; " + missing.Hint
	}
	n.fail(render.ProblemRefused, field+".path", fmt.Sprintf("a dependency of its chart, %s, is not there: %s", a, why))
	n.root.Unit.Artifact = &render.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version, Locate: n.root.Unit.Problem.Locate}
}
