package render

import "github.com/preadmit/preadmit/render/tree"

// What results say of files is in the words of package tree.
type (
	// Position is a place in a file of a tree.
	Position = tree.Position
	// Limits bound what rendering a tree may cost.
	Limits = tree.Limits
	// Trace is what a render read.
	Trace = tree.Trace
)
