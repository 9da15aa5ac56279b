package gaps

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
)

// UnusedValues notes changed files of values in the directories of charts that no release of the repository uses.
// Such a chart is judged with its own values, and those of ci/.
func (l *Ledger) UnusedValues() {
	if l.Base == nil || l.Head.Graph == nil {
		return
	}
	seen := map[string]bool{}
	for _, root := range l.Head.Graph.Charts {
		if seen[root.Dir] || root.Unit.Release.Configured || !l.Selected(root.RootID) {
			continue
		}
		seen[root.Dir] = true
		for _, file := range valuesIn(l.Head.Files, root.Dir) {
			if l.Head.SameFile(l.Base, file) || l.Head.OthersRead(root.Dir, file) {
				continue
			}
			l.Note(report.Diagnostic{
				Severity: "note", Root: root.String(), Location: &report.Location{Path: file, StartLine: 1, Tree: change.Head},
				Message: fmt.Sprintf("no release of the repository uses these values of the chart in %s, so nothing is judged with them; list the release under charts in %s", root.Dir, config.FileName),
			})
		}
	}
}

// valuesIn returns the files of values in the directory of a chart, other than its own and those of ci/.
func valuesIn(files fs.FS, dir string) (found []string) {
	_ = fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return nil // rendering reports it
		case entry.IsDir() && name != dir && (base == "templates" || base == "crds" || base == "charts" || base == "ci"):
			return fs.SkipDir
		case entry.Type().IsRegular() && strings.Contains(base, "values") && (path.Ext(base) == ".yaml" || path.Ext(base) == ".yml") && name != path.Join(dir, "values.yaml"):
			found = append(found, name)
		}
		return nil
	})
	return found
}
