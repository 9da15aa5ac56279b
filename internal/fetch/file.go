package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/preadmit/preadmit/render/artifact"
)

// StatusError is the error for a response without a success status.
type StatusError struct {
	URL    string
	Status int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// get requests a URL.
func (c *Client) get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.client().Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		_ = resp.Body.Close()
		return nil, &StatusError{url, resp.StatusCode}
	}
	return resp, nil
}

// file fetches a file.
func (c *Client) file(ctx context.Context, a artifact.Artifact) (artifact.Pin, error) {
	return c.download(ctx, a.URL)
}

// download fetches a URL into the store.
func (c *Client) download(ctx context.Context, url string) (artifact.Pin, error) {
	resp, err := c.get(ctx, url)
	if err != nil {
		return artifact.Pin{}, err
	}
	defer resp.Body.Close()
	return c.keep(resp.Body)
}

// keep stores a content.
func (c *Client) keep(r io.Reader) (artifact.Pin, error) {
	digest, size, err := c.put(r, c.limits.Content)
	return artifact.Pin{Digest: digest, Size: size}, err
}
