package github

import (
	"net/http"
	"net/url"
)

// authorized returns the transport of the options, extended to send the token to the API only.
func authorized(opts Options, base *url.URL) http.RoundTripper {
	t := &bearer{token: opts.Token, base: base, next: http.DefaultTransport}
	if opts.Client != nil && opts.Client.Transport != nil {
		t.next = opts.Client.Transport
	}
	return t
}

// bearer adds a token to requests to one host.
type bearer struct {
	token string
	base  *url.URL
	next  http.RoundTripper
}

func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.token != "" && req.URL.Host == b.base.Host && req.URL.Scheme == b.base.Scheme {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(req)
}
