package change

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// LocationOf returns the location of a position in a tree, without a snippet.
func LocationOf(p render.Position, tree string) report.Location {
	return report.Location{
		Path: p.Path, StartLine: p.Line, StartColumn: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn,
		Tree: tree,
	}
}

// ObjectOf returns the identity of an object in the cluster, for the report.
func ObjectOf(o *admission.Object, key admission.Key) *report.Object {
	apiVersion, kind := o.GroupVersionKind().ToAPIVersionAndKind()
	named := &report.Object{APIVersion: apiVersion, Kind: kind, Namespace: key.Namespace, Name: o.Name()}
	if named.Name == "" {
		named.GenerateName = o.GenerateName()
	}
	return named
}
