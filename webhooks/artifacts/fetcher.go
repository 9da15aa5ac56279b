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

// Config says how artifacts are fetched, and where they are kept.
type Config struct {
	// Dir is the directory for contents. It must be absolute.
	Dir string
	// Size is the most bytes of them, between scans. Default 2 GiB.
	Size int64
	// Time is how long fetching for one scan may take. Default 2 minutes.
	Time time.Duration
	// Credentials are those of owners of repositories.
	Credentials *fetch.OwnedCredentials
	// Options are those of clients, without credentials and limits.
	Options fetch.Options
	// Log receives what was fetched; nil discards it.
	Log *slog.Logger
}

// Fetcher fetches what scans lack. It is safe for concurrent use.
type Fetcher struct {
	Config
	// reading is held while the files of a repository are parsed, which may take a hundred times
	// their bytes.
	reading sync.Mutex
	// trimming is held while the directory is cut to its size.
	trimming sync.Mutex
}

var _ jailed.Fetcher = (*Fetcher)(nil)

// New makes a fetcher.
func New(c Config) *Fetcher {
	c.Size, c.Time = cmp.Or(c.Size, 2<<30), cmp.Or(c.Time, 2*time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Fetcher{Config: c}
}

// Share is the part of the directory's size that one scan may fetch.
const share = 2

// Begin implements jailed.Fetcher.
func (f *Fetcher) Begin(_ context.Context, r jailed.Request) (jailed.Fetching, []jailed.Fetched, error) {
	credentials := f.Credentials.For(r.Owner)
	kept := store.Open(f.Dir)
	if credentials != nil {
		kept = store.Open(filepath.Join(f.Dir, "owners", fmt.Sprintf("%x", sha256.Sum256([]byte(strings.ToLower(r.Owner))))))
	}
	// Beside the repository, with which it goes also after a process that was killed.
	dir, err := os.MkdirTemp(r.Repository, "artifacts-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory for what a scan lacks: %w", err)
	}
	opts := f.Options
	opts.Credentials = credentials
	opts.Limits.Total = f.Size / share
	opts.Limits.Answer = min(opts.Limits.Total, 256<<20)
	opts.Limits.Content = min(opts.Limits.Total, 128<<20)
	g := &fetching{
		fetcher: f, kept: kept, dir: store.Open(dir), client: fetch.New(kept, opts), left: f.Time,
		log: f.Log.With("owner", r.Owner, "head", r.Head), known: map[wanted]result{},
	}
	g.rules, g.mistake = f.rules(r)
	if g.mistake != nil { // the child finds it too, and says more
		return g, nil, nil
	}
	return g, append(g.there(true), g.there(false)...), nil
}

// maxLock bounds the locks that are read here, in bytes.
const maxLock = 1 << 20

// rules reads the rules for a change from its commits. Without a base the head is its own.
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

// files opens a commit.
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

// fetching fetches for one scan.
type fetching struct {
	fetcher *Fetcher
	// kept has what was fetched for anybody, dir what this scan may read of it.
	kept, dir *store.Store
	client    *fetch.Client
	rules     *permit.Rules
	// mistake is why there are no rules.
	mistake error
	left    time.Duration
	log     *slog.Logger
	// known is what was resolved before: the trees of a change get the same.
	known   map[wanted]result
	fetched int
}

// wanted is an artifact, with the digest that it must have if there is one.
type wanted struct {
	artifact.Artifact
	digest string
}

// result is what became of an artifact that is in no lock.
type result struct {
	pin artifact.Pin
	err error
}

// Dir implements jailed.Fetching.
func (g *fetching) Dir() string { return g.dir.Dir() }

// of returns the rules for a tree.
func (g *fetching) of(base bool) *permit.Rules {
	if base {
		return g.rules.OfBase()
	}
	return g.rules
}

// there lends what is locked for a tree and was fetched before.
func (g *fetching) there(base bool) []jailed.Fetched {
	var all []jailed.Fetched
	locked := g.of(base).Permitted()
	trusted := g.rules.Base
	for _, a := range locked.Artifacts() {
		pin, _ := locked.Find(a)
		if of, ok := trusted.Find(a); !ok || of.Digest != pin.Digest {
			continue // what the change locks is compared with what is there
		}
		if g.kept.Has(pin.Digest) && g.kept.Lend(pin.Digest, g.dir) == nil {
			all = append(all, jailed.Fetched{Lack: jailed.Lack{Base: base, Artifact: a}, Pin: pin})
		}
	}
	return all
}

// atOnce is how many artifacts are fetched at the same time for a scan.
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
	_ = group.Wait() // errors are those of artifacts
	g.left -= time.Since(began)
	g.fetched += len(lacks)
	for _, f := range all {
		g.log.Info("artifact", "artifact", escape.Line(f.Artifact.String()), "digest", f.Pin.Digest, "error", f.Why)
	}
	return all
}

var errTime = errors.New("fetching for this scan takes too long")

// reason is why an artifact was not fetched, without its name.
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

// one fetches one artifact, by the rules for its tree, and lends it to the scan.
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

// get gets what an artifact was resolved to, and lends it to the scan. In between another scan
// may have cut the directory to its size.
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

// trim cuts the directory to its size. Scans that run keep what they were lent.
func (f *Fetcher) trim() {
	f.trimming.Lock()
	defer f.trimming.Unlock()
	if err := store.Open(f.Dir).Trim(f.Size, nil); err != nil {
		f.Log.Warn("cut the directory of artifacts to its size", "error", err)
	}
}
