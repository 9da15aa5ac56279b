package text

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/outline"
)

// fileGroup has the entries of one file.
type fileGroup struct {
	path, tree string
	entries    []*outline.Entry
}

// groupByFile groups the entries of findings by file, in the report's order. Entries with the
// same finding in several files are in the group of the first file.
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
