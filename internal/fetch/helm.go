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
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/artifact"
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

// chart fetches a chart.
func (c *Client) chart(ctx context.Context, a artifact.Artifact, version string) (artifact.Pin, error) {
	if isOCI(a.URL) {
		return c.oci(ctx, ociOf(a), version, chartMedia, true)
	}
	in, err := c.index(ctx, a.URL)
	if err != nil {
		return artifact.Pin{}, err
	}
	entry, err := choose(in.Entries[a.Name], a.Name, version)
	if err != nil {
		return artifact.Pin{}, err
	}
	from, err := entry.url(a.URL)
	if err != nil {
		return artifact.Pin{}, err
	}
	if isOCI(from) {
		repository, tag, _ := cutTag(from)
		return c.oci(ctx, repository, tag, chartMedia, true)
	}
	pin, err := c.download(ctx, from)
	if err != nil {
		return pin, err
	}
	if digest := strings.ToLower(strings.TrimPrefix(entry.Digest, "sha256:")); digest != "" && "sha256:"+digest != pin.Digest {
		return pin, fmt.Errorf("%s has the digest %s, and %s in the index of its repository", from, pin.Digest, entry.Digest)
	}
	pin.Version = entry.Version
	return pin, nil
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
	return 4*(count("\n")+count("\r")+1) + 2*count("- ") + 3*(count(",")+count("[")+count("{")+count("?"))
}

func (in *index) unmarshal(data []byte) error {
	if json.Valid(data) {
		return json.Unmarshal(data, in)
	}
	var top yaml.Node
	if err := yaml.Unmarshal(data, &top); err != nil {
		return err
	}
	if hasAlias(&top) {
		return errors.New("it has aliases")
	}
	return top.Decode(in)
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

// choose returns the version of a chart that Helm chooses: the one with exactly this version,
// else the newest in the range. Without a version it is the newest stable one.
func choose(entries []chartEntry, name, version string) (chartEntry, error) {
	if len(entries) == 0 {
		return chartEntry{}, fmt.Errorf("there is no chart %s in the repository", name)
	}
	sorted := newestFirst(entries)
	if i := slices.IndexFunc(sorted, func(e chartEntry) bool { return version != "" && e.Version == version }); i >= 0 {
		return sorted[i], nil
	}
	if version == "" {
		version = "*"
	}
	in, err := semver.NewConstraint(version)
	if err != nil {
		return chartEntry{}, fmt.Errorf("%q is no version of %s, and no range of versions", version, name)
	}
	for _, e := range sorted {
		if v, err := semver.NewVersion(e.Version); err == nil && in.Check(v) {
			return e, nil
		}
	}
	return chartEntry{}, fmt.Errorf("there is no version of %s in %s", name, version)
}

// newestFirst sorts by version, invalid versions last.
func newestFirst(entries []chartEntry) []chartEntry {
	sorted := slices.Clone(entries)
	parsed := map[string]*semver.Version{}
	for _, e := range sorted {
		parsed[e.Version], _ = semver.NewVersion(e.Version) // nil if invalid
	}
	slices.SortStableFunc(sorted, func(a, b chartEntry) int {
		v, w := parsed[a.Version], parsed[b.Version]
		switch {
		case v == nil && w == nil:
			return 0
		case v == nil:
			return 1
		case w == nil:
			return -1
		}
		return w.Compare(v)
	})
	return sorted
}

// url returns the URL of the archive of a version.
func (e chartEntry) url(repository string) (string, error) {
	if len(e.URLs) == 0 {
		return "", errors.New("the index has no URL of this version")
	}
	base, err := url.Parse(strings.TrimSuffix(repository, "/") + "/")
	if err != nil {
		return "", err
	}
	to, err := base.Parse(e.URLs[0])
	if err != nil {
		return "", fmt.Errorf("the index has %q as the URL of this version", e.URLs[0])
	}
	return to.String(), nil
}
