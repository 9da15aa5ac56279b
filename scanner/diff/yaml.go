package diff

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	textdiff "github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

const (
	// comparedBytes is the most YAML of an object that is compared. An API server takes
	// objects of 3 MiB of JSON.
	comparedBytes = 8 << 20
	// diffLineRunes is the most of a line that a diff shows.
	diffLineRunes = 1000
)

// change compares the two sides of a pair. Where no diff is wanted it says so.
func (p rootPair) change(limit int, wanted bool) report.ObjectChange {
	c := report.ObjectChange{Root: p.root.String(), Operation: string(p.Operation()), Object: *change.ObjectOf(p.Object(), p.Key)}
	if !wanted {
		c.Omitted = noRoom
		return c
	}
	before, after := contentOf(p.Base), contentOf(p.Head)
	report.MaskSecretChange(before, after)
	old, err := yamlOf(before)
	young, otherErr := yamlOf(after)
	if err := errors.Join(err, otherErr); err != nil {
		c.Omitted = "the object is too large to compare"
		return c
	}
	setDiff(&c, hunks(old, young), limit)
	return c
}

// Lines returns the hunks of a unified diff of two objects as YAML. The values of Secrets are masked.
func Lines(before, after map[string]any) []string {
	before, after = runtime.DeepCopyJSON(before), runtime.DeepCopyJSON(after)
	report.MaskSecretChange(before, after)
	old, err := yamlOf(before)
	young, otherErr := yamlOf(after)
	if err != nil || otherErr != nil {
		return nil
	}
	var c report.ObjectChange
	setDiff(&c, hunks(old, young), 64<<10)
	return c.Diff
}

// noRoom says that TotalBytes is used up.
const noRoom = "the diffs of other objects took all the room there is"

// setDiff counts the lines of hunks and keeps those that are within the limit.
func setDiff(c *report.ObjectChange, lines []string, limit int) {
	for _, line := range lines {
		switch line[0] {
		case '+':
			c.Added++
		case '-':
			c.Removed++
		}
		line = clipLine(line)
		if limit -= len(line); limit < 0 {
			c.Cut++
			continue
		}
		c.Diff = append(c.Diff, line)
	}
}

// fit cuts a diff to what is left of all room and returns what it takes.
func fit(c *report.ObjectChange, left int) (taken int) {
	for i, line := range c.Diff {
		if taken+len(line) > left {
			c.Cut += len(c.Diff) - i
			c.Diff = c.Diff[:i]
			break
		}
		taken += len(line)
	}
	if len(c.Diff) == 0 && c.Cut > 0 {
		c.Diff, c.Cut, c.Omitted = nil, 0, noRoom
	}
	if left <= 0 && c.Omitted == "" {
		c.Omitted = noRoom
	}
	return taken
}

// clipLine cuts a line that is too long to read, and says by how much.
func clipLine(line string) string {
	if len(line) <= diffLineRunes {
		return line
	}
	n := 0
	for at := range line {
		if n == diffLineRunes {
			return fmt.Sprintf("%s… (%d more characters)", line[:at], utf8.RuneCountInString(line[at:]))
		}
		n++
	}
	return line
}

// contentOf decodes an object for this comparison only; it is nil for nil.
func contentOf(o *admission.Object) map[string]any {
	if o == nil {
		return nil
	}
	var content map[string]any
	if text, err := o.JSON(); err == nil {
		_ = utiljson.Unmarshal(text, &content) // it was encoded by us
	}
	return content
}

// yamlOf writes an object as YAML with sorted keys, nothing for nil. An object whose
// YAML would be too large - by its depth, it may be far larger than its JSON - is an
// error.
func yamlOf(content map[string]any) ([]byte, error) {
	if content == nil {
		return nil, nil
	}
	w := &boundedBuffer{left: comparedBytes}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(content); err != nil {
		return nil, fmt.Errorf("write as YAML: %w", err)
	}
	return w.Bytes(), nil
}

// boundedBuffer fails when more is written than it may hold.
type boundedBuffer struct {
	bytes.Buffer
	left int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("too large")
	}
	return b.Buffer.Write(p)
}

// hunks are the lines of a unified diff without its header.
func hunks(old, young []byte) []string {
	text := string(textdiff.Diff("base", old, "head", young))
	_, text, _ = strings.Cut(text, "\n+++ head\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
