package text

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/outline"
)

// fileGroup is what is said about one file.
type fileGroup struct {
	path, tree string
	entries    []*outline.Entry
}

// groupByFile groups the findings to be shown in full, in the report's order. What says
// the same of several files is with the first.
func groupByFile(findings []report.Finding, onlyDenials bool) []*fileGroup {
	type file struct{ tree, path string }
	var out []*fileGroup
	files := map[file]*fileGroup{}
	for _, e := range outline.Gather(outline.Entries(findings, onlyDenials)) {
		at := file{e.Location.Tree, e.Location.Path}
		g := files[at]
		if g == nil {
			g = &fileGroup{path: e.Location.Path, tree: e.Location.Tree}
			files[at], out = g, append(out, g)
		}
		g.entries = append(g.entries, e)
	}
	return out
}
