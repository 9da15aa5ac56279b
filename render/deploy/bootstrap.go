package deploy

import (
	"fmt"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/fluxtypes"
)

// syncFile is the name of the file with the Kustomization that `flux bootstrap` creates.
const syncFile = "gotk-sync.yaml"

// bootstrapped adds the entry points of directories that `flux bootstrap` created.
func (e *expander) bootstrapped() error {
	for _, name := range e.renderer.ManifestsCalled(syncFile) {
		dir := path.Dir(name)
		if dir == "." {
			continue
		}
		if err := e.addBootstrapped(dir); err != nil {
			return err
		}
	}
	return nil
}

// addBootstrapped adds the entry point of a directory with a sync file, which may be empty before the bootstrap. Its
// Kustomization is that of the file, with the patches of the directory's kustomization.
func (e *expander) addBootstrapped(dir string) error {
	file := path.Join(dir, syncFile)
	root := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: dir}, Files: []string{file}}
	written := e.renderer.Render(e.ctx, root)
	k, ok := e.bootstrapOf(dir, objects.Of(written, flux.Kind))
	if !ok {
		n := e.addImplied(path.Dir(dir), fluxtypes.RepositoryRef(fluxSystem, path.Base(dir)), nil)
		n.cluster.bootstrap = append(n.cluster.bootstrap, e.holding(dir)...)
		return nil
	}
	if built, ok := e.renderer.At(dir); ok && built.Kind != render.KindPlain {
		if err := e.render([]render.Root{built}); err != nil {
			return err
		}
		for _, patched := range objects.Of(e.results[built.RootID], flux.Kind) {
			if patched.Ref() == k.Ref() {
				root, k = built, patched
				break
			}
		}
	}
	if e.results[root.RootID] == nil { // root may be another one, with the same identity
		e.results[root.RootID] = written
	}
	parsed, err := flux.Parse(k.Object.JSON)
	if err == nil {
		e.addEntry(e.dirOf(parsed), k, append([]render.RootID{root.RootID}, e.holding(dir)...))
	}
	return nil
}

// bootstrapOf returns the Kustomization of a sync file that applies the directory of the file or its parent, or else
// the first one.
func (e *expander) bootstrapOf(dir string, all []objects.Held) (found objects.Held, ok bool) {
	for _, k := range all {
		parsed, err := flux.Parse(k.Object.JSON)
		if err != nil {
			continue
		}
		if at := e.dirOf(parsed); at == dir || at == path.Dir(dir) {
			return k, true
		}
		if !ok {
			found, ok = k, true
		}
	}
	return found, ok
}

// holding returns the discovered roots that use the files `flux bootstrap` wrote into a directory.
func (e *expander) holding(dir string) (holding []render.RootID) {
	e.indexFiles()
	for _, name := range []string{path.Join(dir, syncFile), path.Join(dir, "kustomization.yaml")} {
		for _, id := range e.files[name] {
			if !slices.Contains(holding, id) {
				holding = append(holding, id)
			}
		}
	}
	return holding
}

// findAccounts sets the user of units whose objects name no service account to the default account of their
// controllers.
func (e *expander) findAccounts() error {
	for _, n := range e.nodes {
		controller, namespace, named := "", "", ""
		switch {
		case n.object != nil:
			controller, namespace, named = fluxtypes.KustomizeController, n.object.Metadata.Namespace, n.object.Spec.ServiceAccountName
		case n.release != nil:
			controller, namespace, named = fluxtypes.HelmController, n.release.Namespace(), n.release.Spec.ServiceAccountName
		case n.set != nil:
			controller, namespace, named = fluxtypes.Operator, n.set.Metadata.Namespace, n.set.Spec.ServiceAccountName
		}
		if controller == "" || named != "" {
			continue
		}
		if err := e.findAccountsOf(n.cluster); err != nil {
			return err
		}
		switch account := n.cluster.accounts[controller]; {
		case account.Unknown != "":
			e.notJudged(n, "spec", fmt.Sprintf("which service account applies the objects is not known, %s of %s: %s", fluxtypes.AccountFlag, controller, account.Unknown))
		case account.Name != "":
			n.root.Unit.Apply.User = "system:serviceaccount:" + namespace + ":" + account.Name
		}
	}
	return nil
}

// findAccountsOf finds the default service accounts of a cluster's controllers in their Deployments, or else in its
// FluxInstances.
func (e *expander) findAccountsOf(c *cluster) error {
	if c.accounts != nil {
		return nil
	}
	c.accounts = map[string]fluxtypes.Account{}
	controllers := []string{fluxtypes.KustomizeController, fluxtypes.HelmController, fluxtypes.Operator}
	var mentions []render.Mention
	for _, name := range controllers {
		mentions = append(mentions, render.Mention{Group: fluxtypes.ControllerKind.Group, Kind: fluxtypes.ControllerKind.Kind, Name: name})
	}
	var here, holding []*node
	for _, n := range e.nodes {
		if n.root.Unit.Cluster == c.name && n.root.Unit.Problem == nil {
			if here = append(here, n); e.mayHold(n.root, mentions...) {
				holding = append(holding, n)
			}
		}
	}
	if err := e.renderNodes(holding); err != nil {
		return err
	}
	var ids []render.RootID
	for _, n := range here {
		ids = append(ids, n.root.RootID)
	}
	for _, id := range append(ids, c.bootstrap...) {
		for _, o := range objects.Of(e.results[id], fluxtypes.ControllerKind) {
			if _, known := c.accounts[o.Metadata.Name]; !known && slices.Contains(controllers, o.Metadata.Name) {
				c.accounts[o.Metadata.Name] = fluxtypes.AccountOf(o.Object)
			}
		}
	}
	for _, id := range append(ids, c.bootstrap...) {
		for _, o := range append(objects.Of(e.results[id], fluxtypes.InstanceKind), objects.Of(e.results[id], releases.Kind)...) {
			fi := fluxtypes.ReadInstance(o.Object.JSON)
			if fi == nil {
				continue
			}
			for name, account := range flux.Accounts(e.ctx, e.renderer.Tree().Limits, fi, o.NamespaceOr(fluxSystem), o.Object.Unknown) {
				if _, known := c.accounts[name]; !known {
					c.accounts[name] = account
				}
			}
		}
	}
	return nil
}
