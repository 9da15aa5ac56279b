package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/tree/gittree"
)

// gitLimits returns the limits for what a git server sends.
func gitLimits(answer int64) gittree.Limits {
	return gittree.Limits{Bytes: answer, Objects: 400_000, Object: 64 << 20, Unpacked: 2 << 30}
}

// git fetches the tree of a commit; without one, that of the version's current commit.
func (c *Client) git(ctx context.Context, a artifact.Artifact, commit string) (artifact.Pin, error) {
	remote, err := c.remote(ctx, a.URL)
	if err != nil {
		return artifact.Pin{}, err
	}
	pin := artifact.Pin{Commit: commit}
	want := commit
	if want == "" {
		if pin.Version, want, err = c.reference(ctx, remote, a.Version); err != nil {
			return artifact.Pin{}, err
		}
	}
	return c.tree(ctx, remote, want, pin)
}

// remote returns the repository at a URL.
func (c *Client) remote(ctx context.Context, url string) (gittree.Remote, error) {
	remote := gittree.Remote{URL: url, Limits: gitLimits(c.limits.Answer)}
	if !strings.HasPrefix(url, "https://") {
		at, err := parseSSH(url)
		if err != nil {
			return remote, err
		}
		remote.Stream, err = c.uploadPack(at)
		return remote, err
	}
	var err error
	remote.Transport = c.http
	remote.URL, err = c.moved(ctx, url)
	return remote, err
}

// infoRefs is the first request of a client to a git server.
const infoRefs = "/info/refs?service=git-upload-pack"

// moved returns the URL of a repository after redirects, which it follows like git.
func (c *Client) moved(ctx context.Context, url string) (string, error) {
	url = strings.TrimSuffix(url, "/")
	resp, err := c.get(ctx, url+infoRefs)
	if status := new(StatusError); errors.As(err, &status) {
		return "", fmt.Errorf("%w: there is no git repository, or it needs credentials", err)
	}
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind != "application/x-git-upload-pack-advertisement" {
		return "", fmt.Errorf("%s is no git repository (its server answers with %q)", url, kind)
	}
	to, ok := strings.CutSuffix(resp.Request.URL.String(), infoRefs)
	if !ok {
		return "", fmt.Errorf("%s redirects to %s, which is no git repository", url, resp.Request.URL)
	}
	return to, nil
}

// reference returns the full name and the object name of a branch, tag or commit.
func (c *Client) reference(ctx context.Context, remote gittree.Remote, version string) (name, hash string, err error) {
	if artifact.IsCommit(version) {
		return "", version, nil
	}
	refs, err := remote.References(ctx)
	if err != nil {
		return "", "", err
	}
	if within, ok := strings.CutPrefix(version, artifact.RangePrefix); ok {
		return newestTag(refs, within)
	}
	if version == "" {
		version = "HEAD"
	}
	for _, format := range []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s"} {
		name := fmt.Sprintf(format, version)
		if hash, ok := refs[name]; ok {
			return name, hash, nil
		}
	}
	return "", "", fmt.Errorf("there is no branch or tag %q, and it is no full object name of a commit", version)
}

// newestTag returns the tag that source-controller chooses for a range: the one of the newest
// version.
func newestTag(refs map[string]string, within string) (name, hash string, err error) {
	in, err := semver.NewConstraint(within)
	if err != nil {
		return "", "", fmt.Errorf("%q is no range of versions", within)
	}
	var newest *semver.Version
	other := "" // another tag of the same version
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		tag, ok := strings.CutPrefix(ref, "refs/tags/")
		if !ok || !isExact(tag) {
			continue
		}
		v, err := semver.NewVersion(tag)
		if err != nil || !in.Check(v) || newest != nil && v.LessThan(newest) {
			continue
		}
		if newest == nil || v.GreaterThan(newest) {
			newest, name, hash, other = v, ref, refs[ref], ""
		} else if refs[ref] != hash {
			other = tag
		}
	}
	switch {
	case newest == nil:
		return "", "", fmt.Errorf("no tag is a version in %s", within)
	case other != "":
		return "", "", fmt.Errorf("the tags %s and %s are of the same version: name one of them", newest.Original(), other)
	}
	return name, hash, nil
}

// tree fetches a commit, and stores its files as an archive.
func (c *Client) tree(ctx context.Context, remote gittree.Remote, want string, pin artifact.Pin) (artifact.Pin, error) {
	dir, err := c.store.Scratch()
	if err != nil {
		return artifact.Pin{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	repository, err := gittree.Fetch(ctx, dir, remote, want)
	if err != nil {
		return artifact.Pin{}, err
	}
	commit, err := repository.Commit(want)
	if err != nil {
		return artifact.Pin{}, err
	}
	pin.Commit = commit.Hash()
	r, w := io.Pipe()
	go func() { w.CloseWithError(store.Pack(w, commit.FS(), store.Limits{})) }()
	pin.Digest, pin.Size, err = c.put(r, gitArchive)
	_ = r.Close() // ends packing after an error
	return pin, err
}

// gitArchive is the maximum size of the archive of a commit, in bytes.
const gitArchive = 2 << 30
