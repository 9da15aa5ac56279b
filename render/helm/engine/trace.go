package engine

import (
	"slices"
	"strings"
)

// frame is the writer of a template.
type frame struct {
	run   *run
	outer *frame
	text  strings.Builder
	made  *call
	// via are the templates entered by `{{template}}`, which write to the same frame.
	via *passage
	// pending are the outputs of include and tpl since the last node.
	pending []*call
}

// passage is the execution of a `{{template}}`.
type passage struct {
	node  int
	outer *passage
}

// call is the output of a template: of a file, an include or a tpl.
type call struct {
	text     string
	segments []segment
	// caller is the node that made the call, -1 for a file; frame and via are where that node writes.
	caller int
	frame  *call
	via    *passage
	// number is the position in the order in which calls ended; 0 for a file.
	number int
	// trimmed are the lines of text without the space around them, see split.
	trimmed []string
	starts  []int
}

// segment is the output of one node: from its offset to that of the next.
type segment struct {
	offset, node int
	via          *passage
	// calls are the outputs that the action's output may consist of.
	calls []*call
}

// Write implements io.Writer.
func (f *frame) Write(p []byte) (int, error) {
	f.run.bytes += len(p)
	if f.run.bytes > f.run.limits.Output {
		return 0, exceeded("the output is larger than the limit of %d bytes", f.run.limits.Output)
	}
	return f.text.Write(p)
}

// begin records that a node is about to be executed.
func (f *frame) begin(id int) {
	f.pending = nil
	f.segment(id)
}

// began records that an action is about to write.
func (f *frame) began(id int) {
	f.segment(id)
	f.made.segments[len(f.made.segments)-1].calls = f.pending
	f.pending = nil
}

// segment starts a segment. It replaces the last one if that is empty.
func (f *frame) segment(id int) {
	s := segment{offset: f.text.Len(), node: id, via: f.via}
	if n := len(f.made.segments); n > 0 && f.made.segments[n-1].offset == s.offset {
		f.made.segments[n-1] = s
		return
	}
	f.made.segments = append(f.made.segments, s)
}

// plain writes a text without actions.
func (f *frame) plain(file *parsedFile) error {
	f.segment(file.textNode)
	_, err := f.Write([]byte(file.text))
	return err
}

const noValue = "<no value>"

// dropNoValue removes the text that text/template writes for missing values, as Helm does.
func (c *call) dropNoValue() {
	if !strings.Contains(c.text, noValue) {
		return
	}
	var dropped []int
	for at := 0; ; {
		i := strings.Index(c.text[at:], noValue)
		if i < 0 {
			break
		}
		dropped = append(dropped, at+i)
		at += i + len(noValue)
	}
	for i, s := range c.segments {
		before, _ := slices.BinarySearch(dropped, s.offset)
		shift := before * len(noValue)
		if before > 0 {
			shift -= max(0, dropped[before-1]+len(noValue)-s.offset)
		}
		c.segments[i].offset -= shift
	}
	c.text = strings.ReplaceAll(c.text, noValue, "")
}

// at returns the segment of the byte at an offset; nil when there is none.
func (c *call) at(offset int) *segment {
	i, found := slices.BinarySearchFunc(c.segments, offset, func(s segment, offset int) int { return s.offset - offset })
	if !found {
		i--
	}
	// Of several segments with one offset only the last is not empty.
	for i >= 0 && i+1 < len(c.segments) && c.segments[i+1].offset == c.segments[i].offset {
		i++
	}
	if i < 0 {
		return nil
	}
	return &c.segments[i]
}
