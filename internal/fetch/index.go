package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

// index has the fields of a Helm repository's index.yaml that are used.
type index struct {
	Entries map[string][]chartEntry `json:"entries" yaml:"entries"`
}

// chartEntry is a version of a chart.
type chartEntry struct {
	Version string   `json:"version" yaml:"version"`
	URLs    []string `json:"urls" yaml:"urls"`
	Digest  string   `json:"digest" yaml:"digest"`
}

// indexFetch is the index of a repository, or the error of fetching it.
type indexFetch struct {
	// turn holds a value while a caller reads or writes the other fields.
	turn  chan struct{}
	done  bool
	index *index
	err   error
}

// index returns the index of a repository, which is fetched once: by the first caller, or by the next one if the
// context of that caller ended before the response.
func (c *Client) index(ctx context.Context, repository string) (*index, error) {
	c.mu.Lock()
	f := c.indexes[repository]
	if f == nil {
		f = &indexFetch{turn: make(chan struct{}, 1)}
		c.indexes[repository] = f
	}
	c.mu.Unlock()
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.done {
		return f.index, f.err
	}
	in, err := c.getIndex(ctx, repository)
	if err == nil || ctx.Err() == nil {
		f.done, f.index, f.err = true, in, err
	}
	return in, err
}

func (c *Client) getIndex(ctx context.Context, repository string) (*index, error) {
	at, err := url.Parse(repository)
	if err != nil {
		return nil, err
	}
	resp, err := c.get(ctx, at.JoinPath("index.yaml").String())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, c.limits.Index+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > c.limits.Index {
		return nil, fmt.Errorf("the index of %s has more than %d bytes", repository, c.limits.Index)
	}
	in, err := parseIndex(data)
	if err != nil {
		return nil, fmt.Errorf("the index of %s: %w", repository, err)
	}
	return in, nil
}

// parseIndex parses an index. It rejects aliases: no index has some, and few bytes of them can
// expand to any number of nodes.
func parseIndex(data []byte) (*index, error) {
	if n := mostNodes(data); n > maxNodes {
		return nil, fmt.Errorf("it may have %d values, more than the limit of %d", n, maxNodes)
	}
	parsing.Lock()
	defer parsing.Unlock()
	in := &index{}
	if err := in.unmarshal(data); err != nil {
		return nil, err
	}
	if in.Entries == nil {
		return nil, errors.New("it has no entries: it is no index of charts")
	}
	return in, nil
}

// parsing is held while an index is parsed, which needs memory of many times its size.
var parsing sync.Mutex

// maxNodes is the maximum of mostNodes for an index: one of 64 MiB that is written as Helm does has fewer.
const maxNodes = 12_000_000

// mostNodes returns an upper bound for the nodes of a text in YAML without aliases: a line of block style begins at most
// an item, a mapping, a key and a value, with an item more for each further dash, and in flow style each separator
// begins at most a mapping, a key and a value.
func mostNodes(data []byte) int {
	count := func(what string) int { return bytes.Count(data, []byte(what)) }
	lines := 1
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		lines += count(end)
	}
	return 4*lines + 2*count("- ") + 3*(count(",")+count("[")+count("{")+count("?"))
}

// unmarshal reads an index, of whose nodes it takes the used ones by hand: yaml.Node.Decode compares all keys of a mapping
// with each other, and its error names all that are equal.
func (in *index) unmarshal(data []byte) error {
	if json.Valid(data) {
		return json.Unmarshal(data, in)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return err
	}
	if hasAlias(&document) {
		return errors.New("it has aliases")
	}
	if len(document.Content) == 0 {
		return nil
	}
	top, err := fieldsOf(document.Content[0])
	if err != nil || isNull(top["entries"]) {
		return err
	}
	charts, err := fieldsOf(top["entries"])
	if err != nil {
		return err
	}
	in.Entries = map[string][]chartEntry{}
	for name, versions := range charts {
		if in.Entries[name], err = itemsOf(versions, entryOf); err != nil {
			return fmt.Errorf("chart %s: %w", name, err)
		}
	}
	return nil
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

func isNull(n *yaml.Node) bool { return n == nil || n.ShortTag() == "!!null" }

// entryOf returns a version of a chart.
func entryOf(n *yaml.Node) (e chartEntry, err error) {
	fields, err := fieldsOf(n)
	if err != nil {
		return e, err
	}
	if e.Version, err = textOf(fields["version"]); err != nil {
		return e, err
	}
	if e.Digest, err = textOf(fields["digest"]); err != nil {
		return e, err
	}
	e.URLs, err = itemsOf(fields["urls"], textOf)
	return e, err
}

// fieldsOf returns the values of a mapping by their keys; none of null.
func fieldsOf(n *yaml.Node) (map[string]*yaml.Node, error) {
	switch {
	case isNull(n):
		return nil, nil
	case n.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("line %d is no mapping", n.Line)
	}
	fields := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key is no text", key.Line)
		}
		if fields[key.Value] != nil {
			return nil, fmt.Errorf("line %d: the key %q is there twice", key.Line, key.Value)
		}
		fields[key.Value] = n.Content[i+1]
	}
	return fields, nil
}

// itemsOf returns the items of a list; none of null.
func itemsOf[T any](n *yaml.Node, item func(*yaml.Node) (T, error)) (all []T, err error) {
	switch {
	case isNull(n):
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("line %d is no list", n.Line)
	}
	for _, c := range n.Content {
		one, err := item(c)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// textOf returns the text of a scalar as it is written; "" of null.
func textOf(n *yaml.Node) (string, error) {
	switch {
	case isNull(n):
		return "", nil
	case n.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("line %d is no text", n.Line)
	}
	return n.Value, nil
}
