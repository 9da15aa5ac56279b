package render

import (
	"path"
	"slices"
)

// Users maps directories that kustomizations in other directories use, or of which they use a file, to the directories
// of those kustomizations. The tree must be one that Discover searched. Kustomizations that are not part of a root do
// not count.
func (r *Renderer) Users() map[string][]string {
	users := map[string][]string{}
	d := r.found.Load()
	if d == nil {
		return users
	}
	for _, l := range d.dirs {
		if l.uses == nil || !d.used.reached[l.path] {
			continue
		}
		for _, dir := range l.uses.Bases {
			users[dir] = append(users[dir], l.path)
		}
		for _, name := range l.uses.Files {
			if dir := path.Dir(name); dir != l.path {
				users[dir] = append(users[dir], l.path)
			}
		}
	}
	return users
}

// ManifestsCalled returns the files with a name, which must be a manifest's, in the tree that Discover searched,
// sorted.
func (r *Renderer) ManifestsCalled(base string) []string {
	var names []string
	if d := r.found.Load(); d != nil {
		for _, l := range d.dirs {
			for _, name := range l.manifests {
				if path.Base(name) == base {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// Unlisted returns the manifests in a directory that neither its kustomization nor those that it uses list as
// resources. Discover must have searched the tree.
func (r *Renderer) Unlisted(dir string) []string {
	d := r.found.Load()
	l := d.at(dir)
	if l == nil {
		return nil
	}
	listed := d.resources(dir, map[string]bool{}, map[string]bool{})
	var names []string
	for _, name := range l.manifests {
		if !listed[d.real(name)] && d.isManifestOf(l, name) {
			names = append(names, name)
		}
	}
	return names
}

// resources adds the files that a kustomization, and those that it uses, list as resources.
func (d *discoverer) resources(dir string, seen, files map[string]bool) map[string]bool {
	l := d.at(dir)
	if l == nil || l.uses == nil || seen[dir] {
		return files
	}
	seen[dir] = true
	for _, name := range l.uses.Resources {
		files[name] = true
	}
	for _, base := range l.uses.Bases {
		d.resources(base, seen, files)
	}
	return files
}
