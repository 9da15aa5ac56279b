package tree

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ExpansionError is the error of a YAML document that is too large after its aliases are expanded. Kustomize copies the
// nodes of aliases: a few hundred bytes can expand to gigabytes, and an anchor that contains itself overflows its
// stack.
type ExpansionError struct {
	line    int // in the text that was checked
	Message string
}

func (e *ExpansionError) Error() string { return e.Message }

// guardVerdict is the cached result of Guard; its err may be nil.
type guardVerdict struct{ err *ExpansionError }

// guardFile checks the limits of a file before its aliases are expanded.
func (t *Tree) guardFile(data []byte, id string) *ExpansionError {
	if v, ok := t.cache.guarded.Load(id); ok {
		return v.(guardVerdict).err
	}
	v := guardVerdict{}
	if !Harmless(data, t.Limits) {
		v.err = Guard(data, t.Limits)
	}
	t.cache.guarded.Store(id, v)
	return v.err
}

// Harmless is a cheap test that a text cannot exceed the limits. It has no aliases, and either fewer bytes than the
// limit of nodes or too few characters that separate nodes, and no document can have a mapping with too many keys.
func Harmless(data []byte, limits Limits) bool {
	if bytes.IndexByte(data, 0xFE) >= 0 || bytes.IndexByte(data, 0xFF) >= 0 {
		return false // a document may be UTF-16: its bytes are not its characters
	}
	if len(data) >= limits.Nodes && mostNodes(data) >= limits.Nodes || mayHave(data, '&') && mayHave(data, '*') {
		return false
	}
	for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
		// Each key precedes or follows a character: `key: value`, `{key, key}`, `? key`.
		if bytes.Count(document, []byte(":"))+bytes.Count(document, []byte(","))+bytes.Count(document, []byte("?")) > limits.Keys &&
			mostKeys(document) > limits.Keys {
			return false
		}
	}
	return true
}

// mostKeys returns an upper bound for the keys of one mapping. Those of a block mapping begin in one column, with
// nothing but indicators before them in their lines; those of a flow mapping are separated by commas.
func mostKeys(document []byte) int {
	for _, other := range otherBreaks {
		if bytes.Contains(document, []byte(other)) {
			return len(document)
		}
	}
	most := 1 + bytes.Count(document, []byte(","))
	var keys [1000]int // by column
	for line := range bytes.SplitSeq(document, []byte("\n")) {
		for column, c := range line {
			if c == ' ' || c == '\t' {
				continue
			}
			if column >= len(keys) {
				return len(document)
			}
			keys[column]++
			if most = max(most, keys[column]); c != '-' && c != '?' && c != ':' {
				break
			}
		}
	}
	return most
}

// mostNodes returns an upper bound for the nodes of a text without aliases: each entry of a mapping and item of a list
// has a separator, and adds at most two nodes and one around them.
func mostNodes(data []byte) int {
	marks := 1 + bytes.Count(data, []byte("---"))
	for _, mark := range []string{":", ",", "?", "-", "[", "{"} {
		marks += bytes.Count(data, []byte(mark))
	}
	return 3 * marks
}

// mayHave reports whether there is a mark where an anchor (&) or an alias (*) may begin: YAML's scanner requires the
// end of a token before it, and a character of a name after it.
func mayHave(data []byte, mark byte) bool {
	for at := 0; ; at++ {
		next := bytes.IndexByte(data[at:], mark)
		if next < 0 {
			return false
		}
		at += next
		if at+1 < len(data) && isWordByte(data[at+1]) && (at == 0 || !endsNoToken(data[at-1])) {
			return true
		}
	}
}

// endsNoToken reports whether no token of valid YAML that an anchor or alias may follow ends with a character.
func endsNoToken(c byte) bool {
	return isWordByte(c) && c != '-' || bytes.IndexByte([]byte("'\"()*/=`<"), c) >= 0
}

// Guard counts the nodes of each YAML document after its aliases are expanded. Invalid documents are left to the next
// reader.
func Guard(data []byte, limits Limits) *ExpansionError {
	for _, chunk := range SplitChunks(Normalize(data)) {
		if Harmless([]byte(chunk.Text), limits) {
			continue
		}
		decoder := yaml.NewDecoder(strings.NewReader(chunk.Text))
		for {
			var node yaml.Node
			if decoder.Decode(&node) != nil {
				break // the end, or left to the next reader
			}
			if bad := GuardNode(&node, limits); bad != nil {
				bad.line += chunk.Line
				return bad
			}
		}
	}
	return nil
}

// GuardNode checks one document. Each node is visited once, so that the time is linear in the size of the text, not of
// its expansion.
func GuardNode(node *yaml.Node, limits Limits) *ExpansionError {
	c := counter{limits: limits, done: map[*yaml.Node]int{}, active: map[*yaml.Node]bool{}}
	total := c.count(node)
	if c.err == nil && total > limits.Nodes {
		c.err = tooMany(node.Line, total, limits.Nodes)
	}
	return c.err
}

func tooMany(line, total, limit int) *ExpansionError {
	return &ExpansionError{line: line, Message: fmt.Sprintf(
		"the document has %d YAML nodes once its aliases are expanded, more than the limit of %d", total, limit)}
}

type counter struct {
	limits Limits
	done   map[*yaml.Node]int
	active map[*yaml.Node]bool
	err    *ExpansionError
}

func (c *counter) count(n *yaml.Node) int {
	if c.err != nil || n == nil {
		return 0
	}
	if n.Kind == yaml.AliasNode {
		return c.alias(n)
	}
	if len(n.Content) == 0 {
		return 1
	}
	if total, ok := c.done[n]; ok {
		return total
	}
	if keys := len(n.Content) / 2; n.Kind == yaml.MappingNode && keys > c.limits.Keys {
		c.err = &ExpansionError{line: n.Line, Message: fmt.Sprintf("the mapping has %d keys, more than the limit of %d", keys, c.limits.Keys)}
		return 0
	}
	c.active[n] = true
	total := 1
	for _, child := range n.Content {
		// Saturate: the sum for an alias bomb overflows an int.
		total = min(total+c.count(child), 1<<40)
	}
	delete(c.active, n)
	c.done[n] = total
	return total
}

func (c *counter) alias(n *yaml.Node) int {
	if c.active[n.Alias] {
		c.err = &ExpansionError{line: n.Line, Message: fmt.Sprintf("the anchor %q holds an alias of itself", n.Value)}
		return 0
	}
	return c.count(n.Alias)
}

// chunk is a part of a file that kustomize decodes separately.
type chunk struct {
	Text string
	Line int // lines of the file before it
}

// Separator matches where kustomize's reader (kyaml's ByteReader) splits a file.
var Separator = regexp.MustCompile(`\n---.*\n`)

// Normalize replaces Windows line endings, as kustomize's reader does.
func Normalize(data []byte) string {
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// SplitChunks splits a text as kustomize's reader does.
func SplitChunks(text string) []chunk {
	var out []chunk
	start, line := 0, 0
	for _, at := range Separator.FindAllStringIndex(text, -1) {
		// The reader returns the newline before the separator to the document.
		out = append(out, chunk{text[start : at[0]+1], line})
		line += strings.Count(text[start:at[1]], "\n")
		start = at[1]
	}
	return append(out, chunk{text[start:], line})
}

// LocatedExpansionError is an ExpansionError in a file of the tree.
type LocatedExpansionError struct {
	*ExpansionError
	At Position
}

func (e *LocatedExpansionError) Error() string { return fmt.Sprintf("%s: %s", e.At, e.Message) }

func (e *LocatedExpansionError) Unwrap() error { return e.ExpansionError }
