package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report/github/retry"
)

// TestAnswersAreBounded checks that responses have a size limit, also those with tokens, which
// libraries read.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, err := w.Write([]byte(`{"token":"`))
		for chunk := []byte(strings.Repeat("a", 1<<20)); err == nil && sent.Add(1<<20) < 700<<20; {
			_, err = w.Write(chunk)
		}
	}))
	t.Cleanup(server.Close)
	w := newEnv(t, githubtest.Config{})
	ours, err := New(Config{BaseURL: server.URL, Credentials: w.ours.Credentials()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ours.Repository(1, 2).Token(context.Background())
	if large := new(retry.TooLargeError); !errors.As(err, &large) || sent.Load() > 64<<20 {
		t.Errorf("%d MiB were sent: %v", sent.Load()>>20, err)
	}
}
