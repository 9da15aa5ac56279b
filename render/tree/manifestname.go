package tree

import (
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// IsManifestName reports whether what applies a directory reads a file of that name in it.
// kubectl (FileExtensions of k8s.io/cli-runtime), Flux and Argo CD compare the extension as
// it is written. A kustomization, and any other reference to the file itself, reads any name.
func IsManifestName(name string) bool { return isManifestExtension(path.Ext(name)) }

// IsOtherCase reports whether a file would have the name of a manifest if its extension
// were in lower case, so that its author may believe that it is applied.
func IsOtherCase(name string) bool {
	ext := path.Ext(name)
	return !isManifestExtension(ext) && isManifestExtension(strings.ToLower(ext))
}

func isManifestExtension(ext string) bool { return ext == ".yaml" || ext == ".yml" || ext == ".json" }

// KustomizationNames are the names that kustomize takes for the kustomization of a directory.
func KustomizationNames() []string { return konfig.RecognizedKustomizationFileNames() }

// IsKustomizationName reports whether kustomize takes a file of that name for the
// kustomization of its directory.
func IsKustomizationName(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}
