// Package helm renders what HelmReleases have installed: the roots of kind KindHelm, which
// package deploy finds. A chart is a directory of the tree or an archive among the artifacts of the tree.
//
// Rendering is that of package release. Fields of the HelmRelease, or of what its values are taken
// from, that are not known are found again in the objects by rendering with other values in their place (unknown.go).
package helm
