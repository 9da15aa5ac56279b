package tree

import (
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// IsManifestName reports whether deployers of a directory read a file with this name in it. kubectl (FileExtensions of
// k8s.io/cli-runtime), Flux and Argo CD compare the extension case-sensitively. A kustomization, and any other
// reference to the file itself, may name any file.
func IsManifestName(name string) bool { return isManifestExtension(path.Ext(name)) }

// IsOtherCase reports whether a file would have the name of a manifest with its extension in lower case, so that its
// author may assume that it is applied.
func IsOtherCase(name string) bool {
	ext := path.Ext(name)
	return !isManifestExtension(ext) && isManifestExtension(strings.ToLower(ext))
}

func isManifestExtension(ext string) bool { return ext == ".yaml" || ext == ".yml" || ext == ".json" }

// KustomizationNames returns the names of kustomization files.
func KustomizationNames() []string { return konfig.RecognizedKustomizationFileNames() }

// IsKustomizationName reports whether a file with this name is the kustomization of its directory.
func IsKustomizationName(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}
