// Package helm renders the charts that HelmReleases install: the roots of kind KindHelm, which package deploy
// finds. A chart is a directory of the tree or an archive among the artifacts of the tree.
//
// Package release renders. The fields of objects that depend on unknown fields of the HelmRelease, or of
// objects its values are taken from, are found by rendering with other values (unknown.go).
package helm
