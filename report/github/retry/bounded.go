package retry

import (
	"fmt"
	"io"
	"net/http"
)

// maxAnswer bounds an answer, in bytes. The largest expected are pages of a hundred
// comments, of 65,536 characters each.
const maxAnswer = 32 << 20

// TooLargeError is an answer that is larger than any that is expected.
type TooLargeError struct{}

func (*TooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d MiB", maxAnswer>>20)
}

// Permanent reports that asking again does not end it.
func (*TooLargeError) Permanent() bool { return true }

// Bounded returns a transport that asks by another, and ends answers that are too large with a
// *TooLargeError: decoding one would keep all of it in memory.
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

// boundedBody is a body of which left bytes may be read.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 { // one more, to see that there is more
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, &TooLargeError{}
	}
	return n, err
}
