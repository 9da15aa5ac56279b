package lines

import (
	"bytes"
	"context"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines/text"
	"github.com/rogpeppe/go-internal/diff"
)

// changes determines which lines of the head's files the change wrote. It has none if the scan has no base.
type changes struct {
	base, head *change.Side

	mu    sync.Mutex
	files map[string]*changedFile
}

// changedFile has line numbers of a file at head, counted from 1.
type changedFile struct {
	// whole is set when the base does not have the file.
	whole bool
	// written are the lines that were added or changed, cut the lines before which lines were removed.
	written, cut map[int]bool
	// blocks are the lines that start a block scalar with changed lines.
	blocks map[int]bool
}

func newChanges(base, head *change.Side) *changes {
	return &changes{base: base, head: head, files: map[string]*changedFile{}}
}

// wrote reports whether the change wrote a line of a file of from, or a line of the block scalar that starts there.
func (c *changes) wrote(from *change.Side, path string, line int) bool {
	if c == nil || c.base == nil || from != c.head {
		return false
	}
	f := c.file(path)
	return f.whole || f.written[line] || f.blocks[line]
}

// first returns the first line from start to before end that the change wrote or before which it removed lines; 0 if
// there is none.
func (c *changes) first(from *change.Side, path string, start, end int) int {
	if c == nil || c.base == nil || from != c.head {
		return 0
	}
	f := c.file(path)
	for line := start; line < end; line++ {
		if f.whole || f.written[line] || f.cut[line] && line > start {
			return line
		}
	}
	return 0
}

func (c *changes) file(path string) *changedFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.files[path]
	if !ok {
		f = c.compare(path)
		c.files[path] = f
	}
	return f
}

func (c *changes) compare(path string) *changedFile {
	head, err := fs.ReadFile(c.head.Files, path)
	if err != nil {
		return &changedFile{}
	}
	base, err := fs.ReadFile(c.base.Files, path)
	if err != nil {
		return &changedFile{whole: true}
	}
	f := parseDiff(diff.Diff("base", base, "head", head))
	f.blocks = f.changedBlocks(strings.Split(string(head), "\n"))
	return f
}

// blockMark matches the end of a line that starts a block scalar.
var blockMark = regexp.MustCompile(`(?:^|[:\-] +|\t)[|>][-+0-9]{0,2}[ \t]*(?:#.*)?\r?$`)

// changedBlocks returns the lines that start a block scalar with changed lines.
func (f *changedFile) changedBlocks(lines []string) map[int]bool {
	blocks := map[int]bool{}
	for i, line := range lines {
		if !blockMark.MatchString(line) {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for j := i + 1; j < len(lines); j++ {
			text := strings.TrimLeft(lines[j], " \r")
			ended := text != "" && len(lines[j])-len(text) <= indent
			if f.cut[j+1] || f.written[j+1] && !ended {
				blocks[i+1] = true
			}
			if ended {
				break
			}
		}
	}
	return blocks
}

var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// parseDiff parses a unified diff.
func parseDiff(text []byte) *changedFile {
	f := &changedFile{written: map[int]bool{}, cut: map[int]bool{}}
	line := 0 // none before the first hunk
	for _, l := range bytes.Split(text, []byte("\n")) {
		if m := hunkHeader.FindSubmatch(l); m != nil {
			line, _ = strconv.Atoi(string(m[1]))
			continue
		}
		if line == 0 || len(l) == 0 {
			continue
		}
		switch l[0] {
		case '+':
			f.written[line] = true
			line++
		case '-':
			f.cut[line] = true
		case ' ':
			line++
		}
	}
	return f
}

// preferChanged moves the first location that the change wrote to the front, since it made the finding new.
func (l *Locator) preferChanged(f *Finding, all []report.Location) {
	from := change.OriginOf(f.Subject).Side
	if f.Status != report.StatusNew {
		return
	}
	for i, loc := range all {
		if l.changes.wrote(from, loc.Path, loc.StartLine) {
			copy(all[1:i+1], all[:i])
			all[0] = loc
			return
		}
	}
}

// preferWritten returns the place of the value itself if the change wrote it but not the place that decides whether
// the value exists. If a value is made of several, it returns the only one that the change wrote.
func (l *Locator) preferWritten(f *Finding, place origin.Place) origin.Place {
	from := change.OriginOf(f.Subject).Side
	wrote := func(p origin.Place) bool { return l.changes.wrote(from, p.Path, p.Line) }
	if f.Status != report.StatusNew || wrote(place) {
		return place
	}
	if place.Text != nil && wrote(*place.Text) {
		return *place.Text
	}
	also := slices.DeleteFunc(slices.Clone(place.Also), func(p origin.Place) bool { return !wrote(p) })
	if len(also) == 1 {
		return also[0]
	}
	return place
}

// governed adds the lines of the policy, binding, param or Namespace whose change made an unchanged object be judged
// again.
func (l *Locator) governed(ctx context.Context, f *Finding, loc *report.Location) {
	for _, o := range f.Governing {
		if at, ok := l.changedIn(ctx, o); ok && len(loc.Related) < maxRelated && !pointsTo(loc, at) {
			loc.Related = append(loc.Related, at)
		}
	}
}

// changedIn returns the first line of an object's document that the change wrote.
func (l *Locator) changedIn(ctx context.Context, o *admission.Object) (report.Location, bool) {
	from := change.OriginOf(o)
	source, err := l.source(ctx, o)
	if err != nil {
		return report.Location{}, false
	}
	pos := source.Document()
	lines := l.texts.lines(from.Side, pos.Path)
	end := max(pos.Line, 1)
	for end <= len(lines) && !text.IsSeparator(lines[end-1]) {
		end++
	}
	line := l.changes.first(from.Side, pos.Path, pos.Line, end)
	if line == 0 {
		return report.Location{}, false
	}
	loc := report.Location{
		Path: from.Side.Path(pos.Path), StartLine: line, Tree: from.Side.TreeName(),
		Message: "the " + o.GroupVersionKind().Kind + " " + o.Name() + " changed here",
	}
	l.addSnippet(&loc, from.Side, pos.Path, isSecret(o))
	return loc, true
}
