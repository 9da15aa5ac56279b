package initialize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/target"
)

// repository is what was found in a repository.
type repository struct {
	// dir is its top directory.
	dir string
	// roots are the directories of the roots; kustomizations counts those with a kustomization.
	roots          []string
	kustomizations int
	// policies are the files with ValidatingAdmissionPolicies. engines are the other policy engines
	// with policies in the repository, which preadmit does not evaluate.
	policies []string
	engines  []string
	// argoCD and flux are set if an object of theirs defines what is deployed.
	argoCD, flux bool
	// servers are settings of API servers, in files, that differ from the defaults.
	servers []target.OtherServer
}

// maxManifest is the largest file that is read, in bytes.
const maxManifest = 8 << 20

// inspect inspects the repository that contains a directory, or the directory if there is none.
func inspect(ctx context.Context, p cli.Process, dir string) (*repository, error) {
	if err := scan.CheckDirectory("PATH", dir); err != nil {
		return nil, err
	}
	r := &repository{dir: dir}
	var files fs.FS
	git, err := gittree.Open(dir)
	switch {
	case err == nil:
		r.dir = git.Root()
		files, err = git.WorkTree()
	case errors.Is(err, gittree.ErrNotRepository):
		files, err = gittree.Dir(dir)
	}
	if err != nil {
		return nil, cli.Usagef("PATH: %w", err)
	}
	if err := r.readRoots(ctx, p, files); err != nil {
		return nil, err
	}
	if err := r.readServers(ctx, files); err != nil {
		return nil, err
	}
	return r, r.readManifests(files)
}

func (r *repository) readServers(ctx context.Context, files fs.FS) error {
	settings, err := clusterconfig.Find(ctx, tree.New(files, tree.Limits{}), render.IsTestData)
	if err != nil {
		return fmt.Errorf("find the configuration of clusters: %w", err)
	}
	r.servers = target.OtherServers(settings, &config.Config{})
	return nil
}

func (r *repository) readRoots(ctx context.Context, p cli.Process, tree fs.FS) error {
	found, err := sources.NewRenderer(tree, scan.RenderOptions(p, "", nil)).Discover(ctx)
	if err != nil {
		return fmt.Errorf("find roots: %w", err)
	}
	for _, root := range found.Roots {
		if root.Kind == render.KindKustomize {
			r.kustomizations++
		}
		r.roots = append(r.roots, root.Dir)
	}
	return nil
}

// readManifests searches all YAML files for keywords. It renders nothing.
func (r *repository) readManifests(tree fs.FS) error {
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() > maxManifest {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		r.read(name, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at manifests: %w", err)
	}
	slices.Sort(r.engines)
	r.engines = slices.Compact(r.engines)
	return nil
}

// read records what a file contains.
func (r *repository) read(name string, data []byte) {
	has := func(text string) bool { return bytes.Contains(data, []byte(text)) }
	if has("kind: ValidatingAdmissionPolicy\n") || has("kind: ValidatingAdmissionPolicy\r\n") {
		r.policies = append(r.policies, name)
	}
	r.argoCD = r.argoCD || has("argoproj.io/v1alpha1") && (has("kind: Application\n") || has("kind: ApplicationSet\n"))
	r.flux = r.flux || has("kustomize.toolkit.fluxcd.io/") && has("kind: Kustomization\n")
	for group, engine := range map[string]string{
		"kyverno.io/v": "Kyverno", "templates.gatekeeper.sh/": "Gatekeeper", "constraints.gatekeeper.sh/": "Gatekeeper",
		"policies.kubewarden.io/": "Kubewarden",
	} {
		if has("apiVersion: " + group) {
			r.engines = append(r.engines, engine)
		}
	}
}

// cluster is a directory that may be a cluster.
type cluster struct{ Name, Dir string }

// targets returns the directories with roots whose parent is named like a collection of
// clusters. It returns nil if there is only one.
func (r *repository) targets() []cluster {
	names := []string{"clusters", "environments", "envs", "env", "overlays", "stages"}
	var all []cluster
	for _, root := range r.roots {
		parts := strings.Split(root, "/")
		for i, part := range parts[:len(parts)-1] {
			if t := (cluster{parts[i+1], path.Join(parts[:i+2]...)}); slices.Contains(names, part) {
				if !slices.Contains(all, t) {
					all = append(all, t)
				}
				break
			}
		}
	}
	parents := map[string]bool{}
	for _, t := range all {
		parents[path.Dir(t.Dir)] = true
	}
	if len(all) < 2 || len(parents) > 1 { // several collections rather belong to applications
		return nil
	}
	slices.SortFunc(all, func(a, b cluster) int { return strings.Compare(a.Dir, b.Dir) })
	return all
}

// has reports whether a file or directory exists.
func (r *repository) has(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(name)))
	return err == nil
}

// summary describes what was found.
func (r *repository) summary() string {
	text := fmt.Sprintf("%s with kustomizations, %s with plain manifests; ValidatingAdmissionPolicies in %s",
		cli.Count(r.kustomizations, "directory", "directories"), cli.Count(len(r.roots)-r.kustomizations, "directory", "directories"),
		cli.Count(len(r.policies), "file", "files"))
	if len(r.engines) > 0 {
		text += fmt.Sprintf("; policies of %s, which are not judged", strings.Join(r.engines, " and "))
	}
	return text
}
