package gittree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

const (
	// maxAnswer limits an answer of a server if there is no other limit, in bytes.
	maxAnswer = 4 << 30
	// maxTries is the maximum number of attempts if a server fails or cannot be reached.
	maxTries = 3
	// firstPause is the pause before the second attempt; before the third it is twice as long.
	firstPause = time.Second
)

// Remote is a repository on a git server, reached by HTTP or through a stream.
type Remote struct {
	// URL is the https or http URL of the repository, without credentials. Redirects are not followed, so that the
	// token is not sent to another host.
	URL string
	// Token is sent in the form that GitHub expects, unless it is empty.
	Token string
	// Transport makes the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Stream runs git-upload-pack on the server and returns its input and output; nil for HTTP.
	Stream func(context.Context) (io.ReadWriteCloser, error)
	// Limits bound what is accepted. The error for an exceeded limit is a *LimitError.
	Limits Limits

	pause time.Duration // before the second try, firstPause when 0
}

// References returns the hashes of the server's references by full name: refs/heads/main, refs/pull/7/head, HEAD. For
// an annotated tag, it is the hash of the tag object.
func (r Remote) References(ctx context.Context) (map[string]string, error) {
	session, err := r.session()
	if err != nil {
		return nil, fmt.Errorf("list the references of %s: %w", r.URL, err)
	}
	defer func() { _ = session.Close() }()
	offer, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the references of %s: %w", r.URL, explainRemote(err))
	}
	refs := map[string]string{}
	for name, hash := range offer.References {
		refs[name] = hash.String()
	}
	if offer.Head != nil {
		refs["HEAD"] = offer.Head.String()
	}
	return refs, nil
}

func (r Remote) session() (transport.UploadPackSession, error) {
	if r.Stream != nil {
		return &streamSession{open: r.Stream, most: cmp.Or(r.Limits.Bytes, maxAnswer)}, nil
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, errors.New("the URL is none")
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("want a URL like https://HOST/OWNER/REPOSITORY, without credentials")
	}
	endpoint, err := transport.NewEndpoint(u.String())
	if err != nil {
		return nil, err
	}
	var auth transport.AuthMethod
	if r.Token != "" {
		auth = &githttp.BasicAuth{Username: "x-access-token", Password: r.Token}
	}
	client := &http.Client{Transport: &retrier{
		next: r.Transport, pause: cmp.Or(r.pause, firstPause), most: cmp.Or(r.Limits.Bytes, maxAnswer),
	}}
	return githttp.NewClientWithOptions(client, &githttp.ClientOptions{
		RedirectPolicy: githttp.NoFollowRedirects,
	}).NewUploadPackSession(endpoint, auth)
}

// explainRemote adds an explanation to go-git's error about a server.
func explainRemote(err error) error {
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("%w: give a token that may read the repository (contents: read)", err)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("%w: it is gone, or the token may not read it (contents: read)", err)
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return errors.New("the server sent objects that refer to others, which it did not send")
	}
	return err
}

// retrier repeats requests after failures, and limits the size of answers. All requests of a fetch may be repeated.
type retrier struct {
	next  http.RoundTripper
	pause time.Duration
	most  int64 // bytes of an answer
}

// RoundTrip implements http.RoundTripper.
func (p *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, err := p.send(req)
		failed := err != nil || resp.StatusCode >= 500
		if !failed || try == maxTries || req.Context().Err() != nil {
			return resp, err
		}
		if err == nil {
			_ = resp.Body.Close() // its content is not used
		}
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(p.pause << (try - 1)):
		}
	}
}

func (p *retrier) send(req *http.Request) (*http.Response, error) {
	next := p.next
	if next == nil {
		next = http.DefaultTransport
	}
	copied := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("send the body again: %w", err)
		}
		copied.Body = body
	}
	resp, err := next.RoundTrip(copied)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{resp.Body, p.most, p.most}
	return resp, nil
}

type limitedBody struct {
	io.ReadCloser
	most, left int64
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &LimitError{Limit: LimitBytes, Max: b.most}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	b.left -= int64(n)
	if b.left < 0 { // one byte too many
		return n - 1, &LimitError{Limit: LimitBytes, Max: b.most}
	}
	return n, err
}
