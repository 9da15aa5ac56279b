package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// guarded sends all requests.
type guarded struct {
	next   http.RoundTripper
	logins *Credentials
	limits Limits
	// dial makes the connections for requests and for SSH.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	// left is the number of requests that may still be sent.
	left atomic.Int64
}

// newTransport returns the transport of all requests.
func newTransport(opts Options) *guarded {
	d := &dialer{hosts: opts.Hosts, resolver: opts.Resolver}
	dial := d.dial
	if opts.Dial != nil {
		dial = opts.Dial
	}
	g := &guarded{logins: opts.Credentials, limits: opts.Limits, dial: dial, next: &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: opts.RootCAs, MinVersion: tls.VersionTLS12},
		DisableCompression:     true, // so that the received bytes are counted
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  opts.Limits.Stall,
		MaxResponseHeaderBytes: 1 << 20,
		MaxConnsPerHost:        8,
		IdleConnTimeout:        30 * time.Second,
	}}
	g.left.Store(opts.Limits.Requests)
	return g
}

var errNotHTTPS = errors.New("only https is fetched")

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.URL.Scheme != "https":
		return nil, fmt.Errorf("%s: %w", withoutUser(req), errNotHTTPS)
	case req.URL.User != nil:
		return nil, errors.New("a URL with credentials in it is not fetched")
	}
	if err := g.count(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	copied := req.Clone(ctx)
	copied.Header.Del("Cookie")
	copied.Header.Set("User-Agent", "preadmit")
	g.authorize(copied, origin(req))
	resp, err := g.next.RoundTrip(copied)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	resp.Body = newBody(resp.Body, cancel, ctx, g.limits)
	return resp, nil
}

// count counts a request, and returns an error if there are too many.
func (g *guarded) count() error {
	if g.left.Add(-1) < 0 {
		return fmt.Errorf("there are more than %d requests", g.limits.Requests)
	}
	return nil
}

func withoutUser(req *http.Request) string {
	u := *req.URL
	u.User = nil
	return u.String()
}

// origin returns the host of the first request, before any redirect.
func origin(req *http.Request) string {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return req.URL.Host
}

// authorize sets the credentials of the host, unless another host redirected to it. An
// Authorization header of the client is removed for hosts that may not receive it.
func (g *guarded) authorize(req *http.Request, first string) {
	host := req.URL.Host
	if given := req.Header.Get("Authorization"); given != "" {
		if host == first && (strings.HasPrefix(given, "Bearer ") || g.logins.mayGet(req.Context(), host)) {
			return
		}
		req.Header.Del("Authorization")
	}
	login, ok := g.logins.of(host)
	if _, registry := req.Context().Value(registryKey{}).(string); !ok || host != first || registry {
		return // clients of registries set them
	}
	login.set(req)
}

// body limits the size of a response body, and the time between its parts.
type body struct {
	io.ReadCloser
	ctx         context.Context
	cancel      context.CancelCauseFunc
	timer       *time.Timer
	stall       time.Duration
	left, total int64
}

var errStalled = errors.New("the server sends nothing for too long")

func newBody(under io.ReadCloser, cancel context.CancelCauseFunc, ctx context.Context, limits Limits) *body {
	return &body{
		ReadCloser: under, ctx: ctx, cancel: cancel, stall: limits.Stall, left: limits.Answer, total: limits.Answer,
		timer: time.AfterFunc(limits.Stall, func() { cancel(errStalled) }),
	}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.stall)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", b.total)
	}
	if err != nil && b.ctx.Err() != nil { // io.EOF included: the body was cut off
		err = context.Cause(b.ctx)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// client returns an HTTP client that follows a limited number of redirects.
func (g *guarded) client() *http.Client {
	return &http.Client{Transport: g, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > g.limits.Redirects {
			return fmt.Errorf("there are more than %d redirects", g.limits.Redirects)
		}
		return nil
	}}
}
