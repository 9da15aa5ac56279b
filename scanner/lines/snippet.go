package lines

import (
	"bytes"
	"io/fs"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines/text"
)

// texts caches the lines of files for snippets, with secrets masked.
type texts struct {
	files sync.Map // textKey -> func() *textFile
}

// textFile is the content of a file.
type textFile struct {
	lines []string
	// hidden are the masked values.
	hidden []string
	// hashes are the line hashes, starting with the first line.
	hashes []text.LineHash
}

type textKey struct {
	side *change.Side
	path string
}

func (t *texts) lines(from *change.Side, path string) []string { return t.file(from, path).lines }

// file returns a file of a side; a file that cannot be read is empty.
func (t *texts) file(from *change.Side, path string) *textFile {
	read, _ := t.files.LoadOrStore(textKey{from, path}, sync.OnceValue(func() *textFile { return readText(from.Files, path) }))
	return read.(func() *textFile)()
}

func readText(tree fs.FS, path string) *textFile {
	data, err := fs.ReadFile(tree, path)
	if err != nil {
		return &textFile{}
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	read := &textFile{lines: lines, hashes: text.LineHashes(data)}
	if bytes.Contains(data, []byte("Secret")) || bytes.Contains(data, []byte("secret")) {
		read.lines = text.MaskFile(lines)
		read.hidden = hiddenBy(lines, read.lines)
	}
	return read
}

// addSnippet sets the lines around a location. The snippet stays inside the YAML document, since
// the next one may be a Secret. For a Secret every value is masked, wherever it was written.
func (l *Locator) addSnippet(loc *report.Location, from *change.Side, path string, secret bool) {
	lines := l.texts.lines(from, path)
	if loc.StartLine < 1 || loc.StartLine > len(lines) {
		return
	}
	first, last := text.SnippetRange(lines, loc.StartLine, max(loc.StartLine, loc.EndLine))
	for _, line := range lines[first-1 : last] {
		line = strings.TrimSuffix(line, "\r")
		if secret {
			line = text.MaskLine(line)
		}
		loc.Snippet = append(loc.Snippet, line)
	}
	loc.SnippetLine = first
}

// HashLine sets the hash of a location's line; without a line, that of the first.
func (l *Locator) HashLine(loc *report.Location) {
	if loc.Path == "" {
		return
	}
	if hashes := l.texts.file(l.sideOf(loc), loc.Path).hashes; max(1, loc.StartLine) <= len(hashes) {
		loc.LineHash = hashes[max(1, loc.StartLine)-1].String()
	}
}

// sideOf returns the side of the change that a location is in.
func (l *Locator) sideOf(loc *report.Location) *change.Side {
	if loc.Tree == change.Base && l.change.Base != nil {
		return l.change.Base
	}
	return l.change.Head
}
