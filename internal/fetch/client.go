package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
)

// Options are the options of a Client.
type Options struct {
	// Hosts may have any address, also private ones: names, or names with a port.
	Hosts []string
	// Credentials are the credentials of hosts.
	Credentials *Credentials
	// RootCAs are the trusted certificate authorities; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver resolves names; nil means the system's.
	Resolver *net.Resolver
	// Dial makes all connections instead of the system, without a check of addresses; nil except
	// in tests.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Limits Limits
}

// Client fetches artifacts into a store. It is safe for concurrent use.
type Client struct {
	store  *store.Store
	limits Limits
	http   *guarded

	mu      sync.Mutex
	indexes map[string]*indexFetch // by URL of the repository
	stored  int64                  // bytes in the store, see put
}

// New returns a Client.
func New(s *store.Store, opts Options) *Client {
	opts.Limits = opts.Limits.withDefaults()
	return &Client{store: s, limits: opts.Limits, http: newTransport(opts), indexes: map[string]*indexFetch{}}
}

// Error is the error for an artifact that was not fetched.
type Error struct {
	Artifact artifact.Artifact
	Err      error
}

func (e *Error) Error() string { return fmt.Sprintf("fetch %s: %v", e.Artifact, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

var errTime = errors.New("it takes too long")

// Resolve resolves an artifact to its current content, and fetches it.
func (c *Client) Resolve(ctx context.Context, a artifact.Artifact) (artifact.Pin, error) {
	return c.do(ctx, a, func(ctx context.Context) (artifact.Pin, error) {
		switch a.Kind {
		case artifact.Git:
			return c.git(ctx, a, "")
		case artifact.File:
			return c.file(ctx, a)
		case artifact.Chart:
			return c.chart(ctx, a, a.Version)
		}
		return c.oci(ctx, ociOf(a), a.Version, a.Name, false)
	})
}

// Get fetches the content that an artifact was resolved to. Any other content is an error.
func (c *Client) Get(ctx context.Context, a artifact.Artifact, pin artifact.Pin) error {
	if err := pin.Check(a.Kind); err != nil {
		return &Error{a, err}
	}
	if c.store.Has(pin.Digest) {
		return nil
	}
	got, err := c.do(ctx, a, func(ctx context.Context) (artifact.Pin, error) {
		switch a.Kind {
		case artifact.Git:
			return c.git(ctx, a, pin.Commit)
		case artifact.File:
			return c.file(ctx, a)
		case artifact.Chart:
			if !isOCI(a.URL) {
				return c.chart(ctx, a, pin.Version)
			}
		}
		return c.blob(ctx, ociOf(a), pin)
	})
	if err == nil && got.Digest != pin.Digest {
		err = &Error{a, &MovedError{Want: pin, Got: got}}
	}
	return err
}

// MovedError means that the content of an artifact has changed.
type MovedError struct{ Want, Got artifact.Pin }

func (e *MovedError) Error() string {
	return fmt.Sprintf("it is %s now, and was %s: somebody changed what was published", e.Got.Digest, e.Want.Digest)
}

// do runs fetch with a timeout.
func (c *Client) do(ctx context.Context, a artifact.Artifact, fetch func(context.Context) (artifact.Pin, error)) (artifact.Pin, error) {
	if err := a.Check(); err != nil {
		return artifact.Pin{}, &Error{a, err}
	}
	late, cancel := context.WithTimeoutCause(ctx, c.limits.Time, errTime)
	defer cancel()
	pin, err := fetch(late)
	switch {
	case ctx.Err() != nil:
		return artifact.Pin{}, ctx.Err()
	case err != nil && errors.Is(context.Cause(late), errTime):
		return artifact.Pin{}, &Error{a, fmt.Errorf("%w: more than %s", errTime, c.limits.Time)}
	case err != nil:
		return artifact.Pin{}, &Error{a, err}
	}
	return pin, nil
}

// put stores a content of at most most bytes, and counts it, even if it is refused afterwards: it is in the store.
func (c *Client) put(r io.Reader, most int64) (digest string, size int64, err error) {
	counted := &counter{Reader: r, client: c}
	if digest, size, err = c.store.Put(counted, most); err != nil {
		_ = c.count(-counted.read) // the store removed it
		return "", 0, err
	}
	return digest, size, nil
}

// count counts bytes that are stored, or removed if n is negative. It returns an error above the limit.
func (c *Client) count(n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored += n; c.stored > c.limits.Total {
		return fmt.Errorf("all artifacts together have more than %d bytes", c.limits.Total)
	}
	return nil
}

// counter counts the bytes of a content while it is stored, since others are stored at the same time.
type counter struct {
	io.Reader
	client *Client
	read   int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	if above := c.client.count(int64(n)); above != nil {
		return 0, above
	}
	return n, err
}
