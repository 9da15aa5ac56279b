package objects

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
)

// Tree has the units of a repository by cluster.
type Tree struct {
	Clusters []TreeCluster `json:"clusters"`
	// Unclaimed are the directories that render to objects and that no unit applies.
	Unclaimed []string `json:"unclaimed,omitempty"`
	// Remarks lists the assumptions that were made.
	Remarks []string `json:"remarks,omitempty"`
}

// Remark adds a remark unless the tree has it already.
func (t *Tree) Remark(text string) {
	if !slices.Contains(t.Remarks, text) {
		t.Remarks = append(t.Remarks, text)
	}
}

// TreeCluster is a cluster with the units that are deployed to it.
type TreeCluster struct {
	Name string `json:"name"`
	// ByHand are the directories that a person applies to bootstrap the deployer.
	ByHand []string   `json:"byHand,omitempty"`
	Units  []TreeUnit `json:"units"`
}

// TreeUnit is a unit with the units that its objects define.
type TreeUnit struct {
	ID        string `json:"id"`
	Path      string `json:"path,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
	// Objects counts its rendered objects, Unknown those with unknown fields.
	Objects int `json:"objects"`
	Unknown int `json:"unknown,omitempty"`
	// NotRendered is the reason why it has no objects, empty for a unit that renders.
	NotRendered string `json:"notRendered,omitempty"`
	// Lacks is what it was rendered without, empty for a unit that renders completely.
	Lacks string     `json:"lacks,omitempty"`
	Units []TreeUnit `json:"units,omitempty"`
}

// WriteTree writes a tree as text.
func WriteTree(w io.Writer, t Tree) error {
	out := bufio.NewWriter(w)
	line := func(depth int, format string, args ...any) {
		_, _ = fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", depth), escape.Line(fmt.Sprintf(format, args...)))
	}
	if len(t.Clusters) == 0 {
		line(0, "the repository has no entry point of a deployer")
	}
	for _, c := range t.Clusters {
		line(0, "%s", c.Name)
		for _, dir := range c.ByHand {
			line(1, "%s (applied by hand)", dir)
		}
		for _, u := range c.Units {
			writeTreeUnit(line, u, 1)
		}
	}
	if len(t.Unclaimed) > 0 {
		line(0, "unclaimed: no unit applies these")
	}
	for _, dir := range t.Unclaimed {
		line(1, "%s", dir)
	}
	for _, remark := range t.Remarks {
		line(0, "note: %s", remark)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the tree: %w", err)
	}
	return nil
}

func writeTreeUnit(line func(depth int, format string, args ...any), u TreeUnit, depth int) {
	text := u.ID
	if u.Path != "" {
		text += "  " + u.Path
	}
	switch {
	case u.Suspended:
		text += "  suspended"
	case u.NotRendered != "":
		text += "  not rendered: " + u.NotRendered
	default:
		text += "  " + count(u.Objects, "object", "objects")
	}
	if u.Lacks != "" {
		text += ", without external content: " + u.Lacks
	}
	if u.Unknown > 0 {
		text += fmt.Sprintf(", %d with unknown fields", u.Unknown)
	}
	line(depth, "%s", text)
	for _, child := range u.Units {
		writeTreeUnit(line, child, depth+1)
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// WriteTreeJSON writes a tree as JSON.
func WriteTreeJSON(w io.Writer, t Tree) error {
	if t.Clusters == nil {
		t.Clusters = []TreeCluster{}
	}
	if err := escape.EncodeJSON(w, t); err != nil {
		return fmt.Errorf("write the tree: %w", err)
	}
	return nil
}
