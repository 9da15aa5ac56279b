package deploy

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/render/origin"
)

// generate generates the Applications of an ApplicationSet.
func (e *expander) generate(k objects.Held) ([]appset.Generated, error) {
	for _, unknown := range k.Unknown(func(path []string) bool { return len(path) > 1 && path[1] == "generators" }) {
		if len(unknown.Path) == 0 || unknown.Path[0] == "spec" {
			return nil, &appset.Error{Field: "spec", Refused: true, Message: fmt.Sprintf("the field %s of the ApplicationSet is not known: %s", unknown.Field(), unknown.Reason)}
		}
	}
	return appset.Generate(e.ctx, k.Object.JSON, appset.Input{
		Tree: e.renderer.Tree(), Git: e.gitTop, Clusters: e.opts.ArgoCD.Clusters,
		Given: func(kind string) ([]map[string]any, bool) {
			set := e.argoRef(k.Header)
			return appset.ParametersOf(e.opts.ArgoCD.Generators, set.Namespace, set.Name, kind)
		},
	})
}

// gitTop returns the directory of the tree with the files of a revision of a repository.
func (e *expander) gitTop(url, revision string) (string, error) {
	s := &argocd.Source{RepoURL: url, TargetRevision: revision}
	if e.isSelfSource(s) {
		return ".", nil
	}
	source := fmt.Sprintf("the repository of the generator is not this one but %s", url)
	if e.isOwn(url) {
		source = fmt.Sprintf("the generator reads the revision %s of this repository, not what the change makes of it", revision)
	}
	top, absent := e.renderer.Tree().Mounted(source, artifact.Artifact{Kind: artifact.Git, URL: url, Version: s.GitRevision(), Submodules: true})
	if absent != "" {
		return "", errors.New(absent)
	}
	return top, nil
}

// knownSet is an ApplicationSet with the unit that applies it, nil if it is applied by hand.
type knownSet struct {
	objects.Held
	parent *node
}

// addApplicationSet adds the units of the Applications that an ApplicationSet generates. An ApplicationSet that cannot
// be evaluated becomes a unit itself, which is not rendered.
func (e *expander) addApplicationSet(parent *node, c *cluster, k objects.Held) {
	key := unitKey{c.name, e.argoRef(k.Header)}
	if known := e.sets[key]; known != nil {
		if (known.parent != parent || parent == nil) && !(&render.Unit{Object: known.Object.JSON}).Same(&render.Unit{Object: k.Object.JSON}) {
			e.ambiguous(known.Root, key.object, known.parent, parent, k)
		}
		return
	}
	e.sets[key] = &knownSet{k, parent}
	generated, err := e.generate(k)
	if err != nil {
		e.addBrokenSet(parent, c, k, err)
		return
	}
	e.graph.Sets = append(e.graph.Sets, Set{
		Cluster: c.name, Object: key.object, Parent: k.Root, Keeps: appset.Keeps(k.Object.JSON),
		Empty: len(generated) == 0, Own: appset.Uses(k.Object.JSON, e.isOwn),
	})
	for _, g := range generated {
		o := &render.Object{JSON: g.Object, Index: k.Object.Index}
		updated := appset.Update(k.Object.JSON, g.Object, func() json.RawMessage {
			return e.opts.Before.Application(c.name, e.argoRef(objects.HeaderOf(o)), g.Object)
		})
		o.JSON = updated.Object
		n := e.addApplication(parent, c, objects.Held{Header: objects.HeaderOf(o), Object: o, Root: k.Root})
		if n != nil {
			n.root.Unit.Application.Set = key.object
			n.root.Unit.Origins = e.madeOrigins(n.root.Unit, func(set *origin.Origin) *origin.Origin { return g.Origin(set, e.renderer.Tree()) })
			if g.Repeated {
				n.fail(render.ProblemFailed, "metadata.name", fmt.Sprintf("the ApplicationSet contains applications with duplicate name: %s", n.root.Object.Name))
			}
			if updated.Unknown != "" {
				n.fail(render.ProblemRefused, "", updated.Unknown)
			}
			if updated.Note != "" {
				e.diagnose(n, render.SeverityNote, "", fmt.Sprintf("Application %s %s", n.root.Object.Name, updated.Note))
			}
		}
	}
}

// addBrokenSet adds an ApplicationSet as a unit that is not rendered.
func (e *expander) addBrokenSet(parent *node, c *cluster, k objects.Held, err error) {
	u := &render.Unit{Object: k.Object.JSON, Parent: k.Root, Index: k.Object.Index, Entry: parent == nil, Cluster: c.name, Checkout: render.Checkout{Top: "."}, Origins: e.origins.of}
	n := &node{cluster: c, parent: parent, app: &argocd.Application{}, root: render.Root{
		RootID: render.RootID{Kind: render.KindArgoCD, Dir: k.Root.Dir, Object: e.argoRef(k.Header), Cluster: c.name}, Unit: u,
	}}
	kind, field := render.ProblemFailed, "spec"
	if broken := new(appset.Error); errors.As(err, &broken) {
		if field = broken.Field; broken.Refused {
			kind = render.ProblemRefused
		}
	}
	u.Apply.DeletionPolicy = "Orphan"
	u.Problem = &render.Problem{Kind: kind, Position: render.Position{Path: n.root.Dir}, Locate: n.locator(field), Message: err.Error()}
	n.resolved = true
	e.nodes = append(e.nodes, n)
	for _, dir := range appset.Names(k.Object.JSON, e.isOwn) {
		e.setDirs[paths.InTree(dir)] = true
	}
	if appset.MayUse(k.Object.JSON, e.isOwn) {
		e.graph.Unevaluated = append(e.graph.Unevaluated, n.root.RootID)
	}
}
