package change

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// LocationOf is a position in a tree, without a snippet.
func LocationOf(p render.Position, tree string) report.Location {
	return report.Location{
		Path: p.Path, StartLine: p.Line, StartColumn: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn,
		Tree: tree,
	}
}

// ObjectOf names an object for the report, as it will be known in the cluster.
func ObjectOf(o *admission.Object, key admission.Key) *report.Object {
	apiVersion, kind := o.GroupVersionKind().ToAPIVersionAndKind()
	named := &report.Object{APIVersion: apiVersion, Kind: kind, Namespace: key.Namespace, Name: o.Name()}
	if named.Name == "" {
		named.GenerateName = o.GenerateName()
	}
	return named
}
