package engine

import (
	"path"
	"slices"
	"strings"
)

// maxCopied limits the files of a chart that are compared with an action's output.
const maxCopied = 500

// copied returns the file of a chart, as a call, from which the byte at an offset of an action's output was
// copied, and the offset in it. All lines of the file must be in the output exactly once, ignoring the space
// around them. It returns nil if no file or several match.
func (r *run) copied(s *segment, text string, at int) (*call, int) {
	n := r.node(s.node)
	if n.pipe == nil || !strings.Contains(n.pipe.String(), "Files") {
		return nil, 0
	}
	lines := strings.Split(text, "\n")
	target := strings.Count(text[:at], "\n")
	column := at - lineOf(text, at)
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if i == target {
			column -= strings.Index(line, trimmed)
		}
		lines[i] = trimmed
	}
	var found *call
	begins := 0
	for _, file := range r.filesAt(n.file.name) {
		from, times := linesIn(lines, file.trimmed, target)
		if times > 0 && (found != nil || times > 1) {
			return nil, 0
		}
		if times == 1 {
			found, begins = file, from
		}
	}
	if found == nil {
		return nil, 0
	}
	return found, min(found.starts[target-begins]+max(column, 0), len(found.text)-1)
}

// linesIn returns where some lines occur in others so that they include the target line, and how often.
func linesIn(lines, some []string, target int) (from, times int) {
	for i := max(0, target-len(some)+1); i <= target && i+len(some) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(some)], some) {
			from, times = i, times+1
		}
	}
	return from, times
}

// filesAt returns the files of a template's chart that are no templates, as calls. They are made once.
func (r *run) filesAt(template string) []*call {
	dir := template
	if at := strings.LastIndex(template, "/templates/"); at >= 0 {
		dir = template[:at]
	}
	if known, ok := r.copies[dir]; ok {
		return known
	}
	var all []*call
	for _, name := range sortedKeys(r.filesOf[dir]) {
		content := strings.TrimRight(string(r.filesOf[dir][name]), " \t\r\n")
		if content == "" || len(all) == maxCopied {
			continue
		}
		file := &parsedFile{source: source{name: path.Join(dir, name), text: content}, textNode: -1, lines: func() []int { return lineEnds(content) }}
		made := &call{text: content, caller: -1}
		made.segments = []segment{{node: r.nodes.note(node{file: file, literal: true, parent: -1})}}
		made.split()
		all = append(all, made)
	}
	if r.copies == nil {
		r.copies = map[string][]*call{}
	}
	r.copies[dir] = all
	return all
}
