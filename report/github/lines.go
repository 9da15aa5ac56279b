package github

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"sort"
	"strconv"

	"github.com/rogpeppe/go-internal/diff"
)

// LineMap maps the lines of one text to the lines of another.
type LineMap struct {
	lines int // of the text mapped from
	// hunks are the ranges of lines without a counterpart, in order.
	hunks []hunk
}

// hunk is a run of lines of the first text that are not in the second.
type hunk struct {
	first, count int // in the first text; count is 0 where lines were only added
	shift        int // what to add to the numbers of the lines after it
}

// MapLines compares two texts, line by line.
func MapLines(from, to []byte) *LineMap {
	m := &LineMap{lines: bytes.Count(from, []byte("\n"))}
	if len(from) > 0 && from[len(from)-1] != '\n' {
		m.lines++
	}
	if !bytes.Equal(from, to) {
		m.read(diff.Diff("from", from, "to", to))
	}
	return m
}

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)

// read reads a unified diff.
func (m *LineMap) read(text []byte) {
	line, shift := 0, 0
	started, within := false, false // the lines before the first hunk name the texts
	for _, l := range bytes.Split(text, []byte("\n")) {
		if at := hunkHeader.FindSubmatch(l); at != nil {
			line, _ = strconv.Atoi(string(at[1]))
			started = true
			continue
		}
		if len(l) == 0 || !started {
			continue
		}
		switch l[0] {
		case ' ':
			line++
			within = false
		case '-', '+':
			if !within {
				m.hunks = append(m.hunks, hunk{first: line})
				within = true
			}
			h := &m.hunks[len(m.hunks)-1]
			if l[0] == '-' {
				h.count, line, shift = h.count+1, line+1, shift-1
			} else {
				shift++
			}
			h.shift = shift
		}
	}
}

// Line returns the line of the second text for line n of the first, counted from 1. For a
// line that the second text does not have, or one after the end, it returns the nearest
// preceding line that the second text has, at least 1, and exact is false.
func (m *LineMap) Line(n int) (line int, exact bool) {
	if n < 1 || n > m.lines {
		line, _ = m.Line(max(1, m.lines))
		return line, false
	}
	i := sort.Search(len(m.hunks), func(i int) bool { return m.hunks[i].first > n }) - 1
	if i < 0 {
		return n, true
	}
	h := m.hunks[i]
	if n >= h.first+h.count {
		return n + h.shift, true
	}
	before := 0
	if i > 0 {
		before = m.hunks[i-1].shift
	}
	return max(1, h.first-1+before), false
}

// Translation translates lines for scans that judged another tree than the annotated
// commit's: the merge commit of a pull request, while annotations are on its head.
type Translation struct {
	// Judged and Head are the two trees. If either is nil, lines stay as they are.
	Judged, Head fs.FS
}

// lines returns the line map of a file from Judged to Head, nil when its content is the
// same or a tree is nil.
func (t Translation) lines(path string) (*LineMap, error) {
	if t.Judged == nil || t.Head == nil {
		return nil, nil
	}
	judged, err := fs.ReadFile(smallFiles{t.Judged}, path)
	if err != nil {
		return nil, fmt.Errorf("read %s of the judged tree: %w", path, err)
	}
	head, err := fs.ReadFile(smallFiles{t.Head}, path)
	if err != nil {
		return nil, fmt.Errorf("read %s of the head: %w", path, err)
	}
	if bytes.Equal(judged, head) {
		return nil, nil
	}
	return MapLines(judged, head), nil
}

// maxTranslated bounds the files whose lines are translated from the merge commit to the
// head, in bytes. Places in larger files get no annotation.
const maxTranslated = 2 << 20

// smallFiles is a view of a tree with only the files that can be compared quickly. Opening
// a larger file, a file that is not regular or a broken symbolic link returns fs.ErrNotExist.
type smallFiles struct{ fs.FS }

// Open implements fs.FS.
func (s smallFiles) Open(name string) (fs.File, error) {
	info, err := fs.Stat(s.FS, name)
	link, linkErr := fs.Lstat(s.FS, name)
	leadsNowhere := err != nil && linkErr == nil && link.Mode()&fs.ModeSymlink != 0
	switch {
	case leadsNowhere, err == nil && (!info.Mode().IsRegular() || info.Size() > maxTranslated):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case err != nil:
		return nil, err
	}
	return s.FS.Open(name)
}
