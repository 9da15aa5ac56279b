package gittree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// Fetch fetches commits by their full object names, with their trees and files but without their history, into the bare
// repository at dir, and opens it. It creates dir if needed; a repository created by Fetch may be used again. It
// neither reads nor writes other repositories, and ignores git's configuration.
func Fetch(ctx context.Context, dir string, from Remote, hashes ...string) (*Repository, error) {
	return from.fetch(ctx, dir, hashes, func(req *packp.UploadPackRequest) error {
		req.Depth = packp.DepthCommits(1)
		return req.Capabilities.Set(capability.Shallow)
	})
}

// FetchHistory fetches commits with all of their history, but without trees and files: enough for MergeBase, and little
// to transfer. It must not share its dir with Fetch. It fails if the server does not support partial clones.
func FetchHistory(ctx context.Context, dir string, from Remote, hashes ...string) (*Repository, error) {
	return from.fetch(ctx, dir, hashes, func(req *packp.UploadPackRequest) error {
		req.Filter = packp.FilterTreeDepth(0)
		return req.Capabilities.Set(capability.Filter)
	})
}

func (r Remote) fetch(ctx context.Context, dir string, hashes []string, shape func(*packp.UploadPackRequest) error) (*Repository, error) {
	into, err := makeStore(dir)
	if err != nil {
		return nil, fmt.Errorf("make a repository to fetch into: %w", err)
	}
	if err := r.get(ctx, into, hashes, shape); err != nil {
		var late *LimitError
		if errors.As(context.Cause(ctx), &late) {
			err = late
		}
		return nil, fmt.Errorf("fetch %s: %w", r.URL, err)
	}
	// Open is not used because the directory may be inside another repository's work tree.
	opened, err := openAt(location{gitDir: dir, common: dir}, dir)
	if err != nil {
		return nil, fmt.Errorf("open what was fetched: %w", err)
	}
	return opened, nil
}

// makeStore opens the bare repository at dir, and creates it if there is none.
func makeStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	into, err := openStore(location{gitDir: dir, common: dir})
	if err != nil || isGitDir(dir) {
		return into, err
	}
	_, err = git.Init(into, nil)
	return into, err
}

// get requests commits and stores the received objects.
func (r Remote) get(ctx context.Context, into *store, hashes []string, shape func(*packp.UploadPackRequest) error) error {
	wants, err := objectNames(hashes)
	if err != nil {
		return err
	}
	session, err := r.session()
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	offer, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return explainRemote(err)
	}
	req := packp.NewUploadPackRequestFromCapabilities(offer.Capabilities)
	req.Wants = wants
	if err := shape(req); err != nil {
		return err
	}
	for _, c := range []capability.Capability{capability.Shallow, capability.Filter} {
		if req.Capabilities.Supports(c) && !offer.Capabilities.Supports(c) {
			return fmt.Errorf("the server does not support %q", c)
		}
	}
	resp, err := session.UploadPack(ctx, req)
	if err != nil {
		return explainRemote(err)
	}
	defer func() { _ = resp.Close() }()
	if err := r.keepPack(into, demultiplexed(req, resp)); err != nil {
		return explainRemote(err)
	}
	return keepNames(into, req, resp)
}

// keepPack stores the objects of a pack.
func (r Remote) keepPack(into *store, pack io.Reader) error {
	if !r.Limits.bounded() {
		return packfile.UpdateObjectStorage(into, pack)
	}
	file, err := r.Limits.inspected(pack, into.Filesystem().Root())
	if err != nil {
		return err
	}
	err = packfile.UpdateObjectStorage(into, file)
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// keepNames stores references to the requested commits, and the shallow boundaries.
func keepNames(into *store, req *packp.UploadPackRequest, resp *packp.UploadPackResponse) error {
	shallows, err := into.Shallow()
	if err != nil {
		return err
	}
	shallows = append(shallows, resp.Shallows...)
	if err := into.SetShallow(shallows); err != nil {
		return err
	}
	for _, want := range req.Wants {
		name := plumbing.ReferenceName("refs/fetched/" + want.String())
		if err := into.SetReference(plumbing.NewHashReference(name, want)); err != nil {
			return err
		}
	}
	return nil
}

// demultiplexed returns the pack in an answer that may also contain messages of the server.
func demultiplexed(req *packp.UploadPackRequest, resp io.Reader) io.Reader {
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, resp)
	case req.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, resp)
	}
	return resp
}

func objectNames(hashes []string) ([]plumbing.Hash, error) {
	var names []plumbing.Hash
	for _, hash := range hashes {
		if !plumbing.IsHash(hash) {
			return nil, fmt.Errorf("%q is no full object name", hash)
		}
		if name := plumbing.NewHash(hash); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("there is no commit to fetch")
	}
	return names, nil
}

// Partial reports whether files and trees of commits may be missing in a repository, as in a partial clone.
func (r *Repository) Partial() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg, err := r.store.Storage.Config()
	if err != nil || cfg.Raw == nil {
		return false
	}
	if cfg.Raw.Section("extensions").HasOption("partialClone") {
		return true
	}
	for _, remote := range cfg.Raw.Section("remote").Subsections {
		if remote.HasOption("promisor") || remote.HasOption("partialclonefilter") {
			return true
		}
	}
	return false
}
