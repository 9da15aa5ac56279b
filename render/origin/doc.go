// Package origin says where an object and its fields were written: the words of the answer,
// and what all sources need to find it in YAML.
//
// An Origin belongs to one object. Place returns the position of a field and the Evidence
// for it; Chain the steps by which the value came about; Removals what was taken out of a
// list. Sources fill in Places; package kustomize/rules does so for kustomizations.
//
// A Snippet maps nodes of a piece of YAML to positions in its file. Paths of fields are
// written as the Kubernetes API writes them, and are followed by ParsePath and Descend.
package origin
