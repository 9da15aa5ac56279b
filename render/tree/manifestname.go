package tree

import (
	"path"
	"strings"
)

// IsManifestName reports whether what applies a directory reads a file of that name in it.
// kubectl (FileExtensions of k8s.io/cli-runtime), Flux and Argo CD compare the extension as
// it is written. A kustomization, or whoever names the file itself, reads any name.
func IsManifestName(name string) bool { return isManifestExtension(path.Ext(name)) }

// IsOtherCase reports whether a file would have the name of a manifest if its extension
// were in lower case, so that its author may believe that it is applied.
func IsOtherCase(name string) bool {
	ext := path.Ext(name)
	return !isManifestExtension(ext) && isManifestExtension(strings.ToLower(ext))
}

func isManifestExtension(ext string) bool { return ext == ".yaml" || ext == ".yml" || ext == ".json" }
