package outline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// ChangeNote returns a note on the part of an object's diff that is not shown, "" if all of
// it is shown.
func ChangeNote(o *report.ObjectChange) string {
	switch {
	case o.Omitted != "":
		return "no diff: " + escape.Text(o.Omitted)
	case o.Cut > 0:
		return Count(o.Cut, "more line")
	}
	return ""
}

// DiffLine returns an escaped line of a diff. It keeps tabs: they are harmless, and
// otherwise a difference between tabs and spaces would not be visible.
func DiffLine(line string) string {
	parts := strings.Split(line, "\t")
	for i := range parts {
		parts[i] = escape.Text(parts[i])
	}
	return strings.Join(parts, "\t")
}

// DiffKind returns the kind of a line of a diff: '+', '-', '@' (a hunk header), or ' ' for
// all other lines.
func DiffKind(line string) byte {
	if line == "" || !strings.ContainsRune("+-@", rune(line[0])) {
		return ' '
	}
	return line[0]
}

// ChangesSummary returns a summary like "2 objects differ in 1 root: 1 created, 1 updated;
// +12 -3 lines".
func ChangesSummary(c *report.Changes, unknown []report.Indeterminate) string {
	text := "no object differs"
	if n := len(c.Objects) + c.LeftOut; n > 0 {
		text = fmt.Sprintf("%s in %s: %s", differ(n), Count(len(changedRoots(c)), "root"), changesCount(c))
	}
	if n := len(unknown); n > 0 {
		text = strings.Replace(text, "no object differs", "no object is known to differ", 1)
		text += fmt.Sprintf("; %s not compared", Count(n, "root"))
	}
	return text
}

func differ(n int) string {
	if n == 1 {
		return "1 object differs"
	}
	return fmt.Sprintf("%d objects differ", n)
}

// changesCount counts objects by operation, and lines.
func changesCount(c *report.Changes) string {
	var parts []string
	added, removed := 0, 0
	for _, op := range []struct{ name, word string }{{"CREATE", "created"}, {"UPDATE", "updated"}, {"DELETE", "deleted"}} {
		n := 0
		for i := range c.Objects {
			if c.Objects[i].Operation == op.name {
				n++
				added, removed = added+c.Objects[i].Added, removed+c.Objects[i].Removed
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, op.word))
		}
	}
	if c.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("%d not listed", c.LeftOut))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; +%d -%d lines", added, removed)
}

// changedRoots returns the roots of changed objects, in order.
func changedRoots(c *report.Changes) []string {
	var roots []string
	for i := range c.Objects {
		roots = append(roots, c.Objects[i].Root)
	}
	return slices.Compact(roots)
}
