package build

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
)

// apply applies edits to a text.
func apply(data []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range slices.Compact(edits) {
		data = slices.Concat(data[:e.from], []byte(e.text), data[e.to:])
	}
	return data
}

// edit replaces a part of a text.
type edit struct {
	from, to int
	text     string
}

// edit returns the edit that replaces an entry with a path of the tree. ok is false when the entry is not
// written as a plain or quoted scalar on one line.
func (k *Kustomization) edit(e Entry, target string) (change edit, ok bool) {
	node := k.nodeAt(e.At)
	if node == nil || node.Kind != yaml.ScalarNode || node.Anchor != "" || !strings.HasSuffix(node.Value, e.Value) {
		return edit{}, false
	}
	from := offsetOf(k.Data, node.Line, node.Column)
	if from < 0 {
		return edit{}, false
	}
	written := node.Value
	switch node.Style {
	case yaml.DoubleQuotedStyle:
		written = `"` + written + `"`
	case yaml.SingleQuotedStyle:
		written = "'" + written + "'"
	case 0:
	default:
		return edit{}, false
	}
	if !bytes.HasPrefix(k.Data[from:], []byte(written)) {
		return edit{}, false
	}
	to, err := filepath.Rel("/"+k.Dir, "/"+target)
	if err != nil {
		return edit{}, false
	}
	key := strings.TrimSuffix(node.Value, e.Value) // of a generator's file
	return edit{from, from + len(written), strconv.Quote(key + "./" + filepath.ToSlash(to))}, true
}

// nodeAt returns the node of an entry; nil when there is an alias on the path.
func (k *Kustomization) nodeAt(at []any) *yaml.Node {
	node := k.Document()
	for _, step := range at {
		if _, node = origin.Child(node, step); node == nil || node.Kind == yaml.AliasNode {
			return nil
		}
	}
	return node
}

// offsetOf returns the byte offset of a line and column, counted from 1 in characters; -1 if it is outside of
// the text.
func offsetOf(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return -1
		}
		at += end + 1
	}
	for ; column > 1; column-- {
		if at >= len(data) || data[at] == '\n' {
			return -1
		}
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}
