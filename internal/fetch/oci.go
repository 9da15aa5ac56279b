package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/preadmit/preadmit/render/artifact"
)

const (
	ociScheme = "oci://"
	// chartMedia is the media type of the layer with a chart.
	chartMedia = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	// maxManifest is the maximum size of a manifest or list of tags, in bytes.
	maxManifest = 4 << 20
)

func isOCI(url string) bool { return strings.HasPrefix(url, ociScheme) }

// ociOf returns the URL of the repository of an artifact.
func ociOf(a artifact.Artifact) string {
	if a.Kind == artifact.Chart {
		return strings.TrimSuffix(a.URL, "/") + "/" + a.Name
	}
	return a.URL
}

// cutTag splits a reference into repository and tag.
func cutTag(ref string) (repository, tag string, ok bool) {
	slash := strings.LastIndex(ref, "/")
	if i := strings.LastIndex(ref, ":"); i > slash {
		return ref[:i], ref[i+1:], true
	}
	return ref, "", false
}

// repository returns a client for a repository of a registry, and the context for its requests.
func (c *Client) repository(ctx context.Context, url string) (context.Context, *remote.Repository, error) {
	ref, err := registry.ParseReference(strings.TrimPrefix(url, ociScheme))
	if err != nil {
		return ctx, nil, fmt.Errorf("%s is no repository of a registry: %w", url, err)
	}
	if ref.Reference != "" {
		return ctx, nil, fmt.Errorf("%s has a tag or digest in it, which belongs to the version", url)
	}
	host := ref.Host()
	login, ok := c.http.logins.of(host)
	client := &auth.Client{Client: c.http.client()}
	if ok {
		client.Credential = func(_ context.Context, asked string) (auth.Credential, error) {
			if asked != host {
				return auth.EmptyCredential, nil
			}
			return auth.Credential{Username: login.Username, Password: login.Password, AccessToken: login.Token}, nil
		}
	}
	return context.WithValue(ctx, registryKey{}, host),
		&remote.Repository{Client: client, Reference: ref, MaxMetadataBytes: maxManifest, TagListPageSize: 1000}, nil
}

// oci fetches a layer of an artifact in a repository: the one of a media type, or the first. The
// version of a chart may be a range.
func (c *Client) oci(ctx context.Context, url, version, media string, chart bool) (artifact.Pin, error) {
	ctx, repo, err := c.repository(ctx, url)
	if err != nil {
		return artifact.Pin{}, err
	}
	tag, err := c.tag(ctx, repo, version, chart)
	if err != nil {
		return artifact.Pin{}, err
	}
	layer, err := layerOf(ctx, repo, tag, media)
	if err != nil {
		return artifact.Pin{}, err
	}
	pin, err := c.layer(ctx, repo, layer)
	if pin.Version = tag; chart {
		pin.Version = strings.ReplaceAll(tag, "_", "+")
	}
	return pin, err
}

// blob fetches a content of a repository by its digest.
func (c *Client) blob(ctx context.Context, url string, pin artifact.Pin) (artifact.Pin, error) {
	ctx, repo, err := c.repository(ctx, url)
	if err != nil {
		return artifact.Pin{}, err
	}
	return c.layer(ctx, repo, ocispec.Descriptor{MediaType: "application/octet-stream", Digest: digest.Digest(pin.Digest), Size: pin.Size})
}

// tag returns the tag or digest for a version.
func (c *Client) tag(ctx context.Context, repo *remote.Repository, version string, chart bool) (string, error) {
	within, isRange := strings.CutPrefix(version, artifact.RangePrefix)
	switch {
	case artifact.IsDigest(version):
		return version, nil
	case !chart && version == "":
		return "latest", nil
	case !chart && !isRange:
		return version, nil
	case chart && version != "" && (isExact(version) || !isRangeOf(version)):
		return strings.ReplaceAll(version, "+", "_"), nil
	}
	tags, err := c.tags(ctx, repo)
	if err != nil {
		return "", err
	}
	chosen, err := choose(tags, repo.Reference.Repository, within)
	return strings.ReplaceAll(chosen.Version, "+", "_"), err
}

// isExact reports whether a version is a single one, not a range.
func isExact(version string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	return err == nil
}

// isRangeOf reports whether a version is a range of versions; a tag may be any text.
func isRangeOf(version string) bool {
	_, err := semver.NewConstraint(version)
	return err == nil
}

// tags returns the tags of a repository that are versions.
func (c *Client) tags(ctx context.Context, repo *remote.Repository) (all []chartEntry, err error) {
	err = repo.Tags(ctx, "", func(tags []string) error {
		for _, tag := range tags {
			version := strings.ReplaceAll(tag, "_", "+")
			if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err == nil {
				all = append(all, chartEntry{Version: version})
			}
		}
		if len(all) > c.limits.Tags {
			return fmt.Errorf("there are more than %d tags", c.limits.Tags)
		}
		return nil
	})
	return all, err
}

// layerOf returns the layer of a manifest with a media type; "" means the first.
func layerOf(ctx context.Context, repo *remote.Repository, tag, media string) (ocispec.Descriptor, error) {
	found, r, err := repo.Manifests().FetchReference(ctx, tag)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	if len(data) > maxManifest {
		return ocispec.Descriptor{}, fmt.Errorf("the manifest has more than %d bytes", maxManifest)
	}
	if digest.FromBytes(data) != found.Digest || artifact.IsDigest(tag) && string(found.Digest) != tag {
		return ocispec.Descriptor{}, fmt.Errorf("the manifest has another digest than %s", tag)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("read the manifest: %w", err)
	}
	for _, layer := range manifest.Layers {
		if media == "" || layer.MediaType == media {
			return layer, nil
		}
	}
	if media == "" {
		return ocispec.Descriptor{}, errors.New("the manifest has no layers")
	}
	return ocispec.Descriptor{}, fmt.Errorf("the manifest has no layer of the type %s: it is no Helm chart", media)
}

// layer fetches a layer into the store.
func (c *Client) layer(ctx context.Context, repo *remote.Repository, layer ocispec.Descriptor) (artifact.Pin, error) {
	switch {
	case !artifact.IsDigest(string(layer.Digest)):
		return artifact.Pin{}, fmt.Errorf("the layer has the digest %q, want one of sha256", layer.Digest)
	case layer.Size > c.limits.Content || layer.Size < 0:
		return artifact.Pin{}, fmt.Errorf("the layer has %d bytes, more than the limit of %d", layer.Size, c.limits.Content)
	}
	r, err := repo.Blobs().Fetch(ctx, layer)
	if err != nil {
		return artifact.Pin{}, err
	}
	defer r.Close()
	pin, err := c.keep(r)
	if err == nil && pin.Digest != string(layer.Digest) {
		err = fmt.Errorf("the registry sent a layer with the digest %s, want %s", pin.Digest, layer.Digest)
	}
	return pin, err
}
