package render

import (
	"path"

	"sigs.k8s.io/kustomize/api/konfig"
)

// Kustomization gives the kustomization in a directory of the tree as a root,
// whether or not others use it; false when there is none.
func (r *Renderer) Kustomization(dir string) (Root, bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if to := r.tree.resolve(path.Join(dir, name)); to.err == nil && !to.isDir {
			return Root{RootID: RootID{Kind: KindKustomize, Dir: dir}}, true
		}
	}
	return Root{}, false
}
