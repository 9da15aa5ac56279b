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
	// comparedBytes is the maximum size of the YAML of an object that is compared. An API server
	// accepts objects of up to 3 MiB of JSON.
	comparedBytes = 8 << 20
	// diffLineRunes is the maximum length of a line in a diff.
	diffLineRunes = 1000
)

// change compares the two sides of a pair. If wanted is false, it omits the diff.
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

// noRoom is the reason for an omitted diff if TotalBytes is exceeded.
const noRoom = "the diffs of other objects took all the room there is"

// setDiff counts the changed lines of hunks and keeps the lines within the limit.
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

// fit truncates a diff to the bytes that are left and returns its size.
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

// clipLine truncates a line that is too long to read, and appends by how much.
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

// contentOf decodes an object for this comparison only; it returns nil for nil.
func contentOf(o *admission.Object) map[string]any {
	if o == nil {
		return nil
	}
	var content map[string]any
	if text, err := o.JSON(); err == nil {
		_ = utiljson.Unmarshal(text, &content) // we encoded it ourselves
	}
	return content
}

// yamlOf encodes an object as YAML with sorted keys, or as nothing if it is nil. It returns an error
// if the YAML is too large; because of indentation it may be far larger than the JSON.
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

// boundedBuffer returns an error for writes that exceed its size.
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

// hunks returns the lines of a unified diff without its header.
func hunks(old, young []byte) []string {
	text := string(textdiff.Diff("base", old, "head", young))
	_, text, _ = strings.Cut(text, "\n+++ head\n")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
