package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/preadmit/preadmit/render/artifact"
)

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
