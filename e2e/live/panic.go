package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// panicTransport returns a response for a server that panicked and reset the stream of the call. It is
// the response that the server sends after a panic if it still can
// (k8s.io/apiserver/pkg/server/filters/wrap.go).
type panicTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t panicTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	var reset http2.StreamError
	if !errors.As(err, &reset) || reset.Code != http2.ErrCodeInternal {
		return resp, err
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: "This request caused apiserver to panic. Look in the logs for details.",
	})
	if err != nil {
		return nil, fmt.Errorf("encode the answer to a panic: %w", err)
	}
	return &http.Response{
		StatusCode: http.StatusInternalServerError, Status: "500 Internal Server Error", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}
