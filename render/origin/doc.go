// Package origin describes where an object and its fields were written: the types of results, and what all
// sources need to find places in YAML.
//
// An Origin belongs to one object. Place returns the position of a field and the Evidence for it; Chain the
// steps that wrote the value; Removals the elements that were removed from a list. Sources fill in Places;
// package kustomize/rules does so for kustomizations.
//
// A Snippet maps nodes of a piece of YAML to positions in its file. ParsePath and Descend parse and follow
// paths of fields, which have the form of the Kubernetes API.
package origin
