package retry

import (
	"fmt"
	"io"
	"net/http"
)

// maxAnswer bounds a response body, in bytes. The largest expected responses are pages of a
// hundred comments, of 65,536 characters each.
const maxAnswer = 32 << 20

// TooLargeError is the error for a response that is larger than any expected one.
type TooLargeError struct{}

func (*TooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20)
}

// Permanent returns true: a retry would give the same error.
func (*TooLargeError) Permanent() bool { return true }

// Bounded returns a transport that sends requests through next and ends responses that are
// too large with a *TooLargeError: decoding one would keep all of it in memory.
func Bounded(next http.RoundTripper) http.RoundTripper { return bounded{next} }

type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.ContentLength > maxAnswer {
		_ = resp.Body.Close() // nobody reads it
		return nil, &TooLargeError{}
	}
	resp.Body = &boundedBody{resp.Body, maxAnswer}
	return resp, nil
}

// boundedBody is a body of which at most left more bytes may be read.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 { // one more byte, to detect a body that is too large
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, &TooLargeError{}
	}
	return n, err
}
