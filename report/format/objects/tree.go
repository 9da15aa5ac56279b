package objects

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
)

// Tree is what of a repository is deployed to which cluster.
type Tree struct {
	Clusters []TreeCluster `json:"clusters"`
	// Unclaimed are directories that render to objects and that no unit applies.
	Unclaimed []string `json:"unclaimed,omitempty"`
	// Remarks are on what was assumed.
	Remarks []string `json:"remarks,omitempty"`
}

// Remark adds a remark, which several units may give rise to, once.
func (t *Tree) Remark(text string) {
	if !slices.Contains(t.Remarks, text) {
		t.Remarks = append(t.Remarks, text)
	}
}

// TreeCluster is a cluster with what is deployed to it.
type TreeCluster struct {
	Name string `json:"name"`
	// ByHand are directories that nothing applies but somebody, to make the deployer begin.
	ByHand []string   `json:"byHand,omitempty"`
	Units  []TreeUnit `json:"units"`
}

// TreeUnit is a unit of deployment with those that its objects ask for.
type TreeUnit struct {
	ID        string `json:"id"`
	Path      string `json:"path,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
	// Objects counts the objects that it renders to, Unknown those with unknown fields.
	Objects int `json:"objects"`
	Unknown int `json:"unknown,omitempty"`
	// NotRendered says why it has no objects; empty for a unit that renders.
	NotRendered string `json:"notRendered,omitempty"`
	// Lacks says what it is rendered without; empty for a unit that renders whole.
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
		line(0, "nothing in the repository says what is deployed")
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
		text += ", without what is elsewhere: " + u.Lacks
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
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(t); err != nil {
		return fmt.Errorf("write the tree: %w", err)
	}
	return nil
}
