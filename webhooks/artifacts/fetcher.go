package artifacts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/permit"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// Config is the configuration of a Fetcher.
type Config struct {
	// Dir is the directory for contents. It must be absolute.
	Dir string
	// Size is the maximum size of the contents between scans, in bytes. Default 2 GiB.
	Size int64
	// Time is the timeout for fetching for one scan. Default 2 minutes.
	Time time.Duration
	// Credentials are the credentials of owners of repositories.
	Credentials *fetch.OwnedCredentials
	// Options are the options of clients, without credentials and limits.
	Options fetch.Options
	// Log receives what was fetched; nil discards it.
	Log *slog.Logger
}

// Fetcher fetches artifacts for scans. It is safe for concurrent use.
type Fetcher struct {
	Config
	// reading is held while the files of a repository are parsed, which may need memory of a
	// hundred times their size.
	reading sync.Mutex
	// trimming is held while the directory is reduced to its size.
	trimming sync.Mutex
}

var _ jailed.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher.
func New(c Config) *Fetcher {
	c.Size, c.Time = cmp.Or(c.Size, 2<<30), cmp.Or(c.Time, 2*time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Fetcher{Config: c}
}

// share: one scan may fetch at most the directory's size divided by share.
const share = 2

// Begin implements jailed.Fetcher.
func (f *Fetcher) Begin(_ context.Context, r jailed.Request) (jailed.Fetching, []jailed.Fetched, error) {
	credentials := f.Credentials.For(r.Owner)
	kept := store.Open(f.Dir)
	if credentials != nil {
		kept = store.Open(filepath.Join(f.Dir, "owners", fmt.Sprintf("%x", sha256.Sum256([]byte(strings.ToLower(r.Owner))))))
	}
	// Inside the repository's directory, which is removed even after a crash.
	dir, err := os.MkdirTemp(r.Repository, "artifacts-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory for what a scan lacks: %w", err)
	}
	opts := f.Options
	opts.Credentials = credentials
	opts.Limits.Total = f.Size / share
	opts.Limits.Answer = min(opts.Limits.Total, cmp.Or(opts.Limits.Answer, 256<<20))
	opts.Limits.Content = min(opts.Limits.Total, cmp.Or(opts.Limits.Content, 128<<20))
	g := &fetching{
		fetcher: f, kept: kept, dir: store.Open(dir), client: fetch.New(kept, opts), left: f.Time,
		log: f.Log.With("owner", r.Owner, "head", r.Head), known: map[wanted]result{},
	}
	g.rules, g.mistake = f.rules(r)
	if g.mistake != nil { // the child finds it too, and reports it
		return g, nil, nil
	}
	return g, append(g.there(true), g.there(false)...), nil
}

// maxLock limits the locks that are read here, in bytes.
const maxLock = 1 << 20

// rules reads the rules for a change from its commits. Without a base, the head is used as base.
func (f *Fetcher) rules(r jailed.Request) (*permit.Rules, error) {
	head, err := files(r.Repository, r.Head)
	if err != nil {
		return nil, err
	}
	base := head
	if r.Base != "" {
		if base, err = files(cmp.Or(r.BaseRepository, r.Repository), r.Base); err != nil {
			return nil, err
		}
	}
	for _, tree := range []fs.FS{base, head} {
		if info, err := fs.Stat(tree, lock.FileName); err == nil && info.Size() > maxLock {
			return nil, fmt.Errorf("%s has more than %d bytes: the service fetches nothing by it", lock.FileName, maxLock)
		}
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	cfg, _, err := config.Load(nil, base)
	if err != nil {
		return nil, err
	}
	return permit.Load(base, head, cfg.AllowedURLs())
}

// files returns the files of a commit.
func files(repository, commit string) (fs.FS, error) {
	opened, err := gittree.Open(repository)
	if err != nil {
		return nil, err
	}
	c, err := opened.Commit(commit)
	if err != nil {
		return nil, err
	}
	return c.FS(), nil
}

// fetching implements jailed.Fetching for one scan.
type fetching struct {
	fetcher *Fetcher
	// kept has the artifacts fetched for all scans, dir those that this scan may read.
	kept, dir *store.Store
	client    *fetch.Client
	rules     *permit.Rules
	// mistake is the error that reading the rules returned.
	mistake error
	left    time.Duration
	log     *slog.Logger
	// known are the results so far, so that both trees of a change get the same.
	known   map[wanted]result
	fetched int
}

// wanted is an artifact, with the digest that it must have, or "".
type wanted struct {
	artifact.Artifact
	digest string
}

// result is the outcome of fetching an artifact that is not in the base's lock.
type result struct {
	pin artifact.Pin
	err error
}

// Dir implements jailed.Fetching.
func (g *fetching) Dir() string { return g.dir.Dir() }

// of returns the rules for the base or the head.
func (g *fetching) of(base bool) *permit.Rules {
	if base {
		return g.rules.OfBase()
	}
	return g.rules
}

// there adds to dir the stored artifacts that the lock of a tree has, and returns them.
func (g *fetching) there(base bool) []jailed.Fetched {
	var all []jailed.Fetched
	locked := g.of(base).Permitted()
	trusted := g.rules.Base
	for _, a := range locked.Artifacts() {
		pin, _ := locked.Find(a)
		if of, ok := trusted.Find(a); !ok || of.Digest != pin.Digest {
			continue // the digest differs from the base's, so it has to be fetched and compared
		}
		if g.kept.Has(pin.Digest) && g.kept.Lend(pin.Digest, g.dir) == nil {
			all = append(all, jailed.Fetched{Lack: jailed.Lack{Base: base, Artifact: a}, Pin: pin})
		}
	}
	return all
}

// atOnce is how many artifacts are fetched concurrently for a scan.
const atOnce = 4

// Fetch implements jailed.Fetching.
func (g *fetching) Fetch(ctx context.Context, lacks []jailed.Lack) []jailed.Fetched {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, max(g.left, 0), errTime)
	defer cancel()
	all := make([]jailed.Fetched, len(lacks))
	var group errgroup.Group
	group.SetLimit(atOnce)
	var mu sync.Mutex
	for i, l := range lacks {
		group.Go(func() error {
			pin, err := g.one(ctx, &mu, l)
			all[i] = jailed.Fetched{Lack: l, Pin: pin}
			if err != nil {
				all[i] = jailed.Fetched{Lack: l, Why: escape.Line(reason(ctx, err))}
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in all
	g.left -= time.Since(began)
	g.fetched += len(lacks)
	for _, f := range all {
		g.log.Info("artifact", "artifact", escape.Line(f.Artifact.String()), "digest", f.Pin.Digest, "error", f.Why)
	}
	return all
}

var errTime = errors.New("fetching for this scan takes too long")

// reason returns why an artifact was not fetched, without its name.
func reason(ctx context.Context, err error) string {
	failed := new(fetch.Error)
	switch {
	case errors.Is(context.Cause(ctx), errTime):
		return errTime.Error()
	case errors.As(err, &failed):
		return failed.Err.Error()
	}
	return err.Error()
}

// one fetches one artifact by the rules for its tree, and adds it to dir.
func (g *fetching) one(ctx context.Context, mu *sync.Mutex, l jailed.Lack) (artifact.Pin, error) {
	if g.mistake != nil {
		return artifact.Pin{}, g.mistake
	}
	rules := g.of(l.Base)
	pin, known, err := rules.Decide(l.Artifact)
	if err != nil {
		return pin, err
	}
	if of, ok := rules.Base.Find(l.Artifact); known && ok && of.Digest == pin.Digest {
		return pin, g.get(ctx, l.Artifact, pin)
	}
	want := wanted{Artifact: l.Artifact}
	if known {
		want.digest = pin.Digest
	}
	mu.Lock()
	before, ok := g.known[want]
	mu.Unlock()
	if !ok {
		before.pin, before.err = g.client.Permitted(ctx, rules, l.Artifact)
		mu.Lock()
		if first, ok := g.known[want]; ok {
			before = first
		}
		g.known[want] = before
		mu.Unlock()
	}
	if before.err != nil {
		return before.pin, before.err
	}
	return before.pin, g.get(ctx, l.Artifact, before.pin)
}

// get fetches a pinned artifact, and adds it to dir. In between, trim for another scan may have
// removed it.
func (g *fetching) get(ctx context.Context, a artifact.Artifact, pin artifact.Pin) (err error) {
	for range 3 {
		if err = g.client.Get(ctx, a, pin); err != nil {
			return err
		}
		if err = g.kept.Lend(pin.Digest, g.dir); !errors.Is(err, store.ErrNotStored) {
			return err
		}
	}
	return err
}

// End implements jailed.Fetching.
func (g *fetching) End() {
	_ = os.RemoveAll(g.dir.Dir())
	if g.fetched > 0 {
		g.fetcher.trim()
	}
}

// trim reduces the directory to its size. Running scans keep the artifacts in their directories.
func (f *Fetcher) trim() {
	f.trimming.Lock()
	defer f.trimming.Unlock()
	if err := store.Open(f.Dir).Trim(f.Size, nil); err != nil {
		f.Log.Warn("cut the directory of artifacts to its size", "error", err)
	}
}
