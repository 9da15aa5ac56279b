package retry

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAnswersAreBounded: an endless response is read only up to the limit, gives an error that
// says so, and is not retried.
func TestAnswersAreBounded(t *testing.T) {
	var sent, asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/announced" {
			w.Header().Set("Content-Length", "734003200")
		}
		for chunk := []byte(strings.Repeat("a", 1<<20)); sent.Load() < 700<<20; sent.Add(1 << 20) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/", "/announced"} {
		sent.Store(0)
		asked.Store(0)
		client := &http.Client{Transport: New(nil, Options{Clock: noWait{}})}
		_, err := client.Get(server.URL + path)
		if large := new(TooLargeError); !errors.As(err, &large) {
			t.Errorf("%s: %v", path, err)
		}
		if got := sent.Load(); got > maxAnswer+16<<20 || asked.Load() != 1 { // some is on its way
			t.Errorf("%s: asked %d times, and %d MiB were sent", path, asked.Load(), got>>20)
		}
	}
}

// TestAnswersWithinTheBound: they are returned completely.
func TestAnswersWithinTheBound(t *testing.T) {
	for _, size := range []int{0, 1, maxAnswer - 1, maxAnswer, maxAnswer + 1} {
		body := &boundedBody{io.NopCloser(strings.NewReader(strings.Repeat("a", size))), maxAnswer}
		text, err := io.ReadAll(body)
		if whole := size <= maxAnswer; len(text) != min(size, maxAnswer) || (err == nil) != whole {
			t.Errorf("%d bytes: read %d, %v", size, len(text), err)
		}
	}
}
