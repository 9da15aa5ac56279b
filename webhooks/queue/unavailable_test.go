package queue

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestUnavailable checks that errors of starting servers or clusters are temporary, and those of wrong
// settings are not.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nats.ErrNoServers, true},
		{nats.ErrTimeout, true},
		{jetstream.ErrNoStreamResponse, true},
		{nats.ErrDisconnected, true},
		{io.EOF, true},
		{context.DeadlineExceeded, true},
		{&net.DNSError{Err: "no such host", Name: "nats", IsNotFound: true}, true},
		{&net.OpError{Op: "dial", Err: errors.New("no route to host")}, true},
		{&jetstream.APIError{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"}, true},
		{&jetstream.APIError{Code: 400, ErrorCode: 10005, Description: "no suitable peers for placement"}, true},
		{nats.ErrAuthorization, false},
		{nats.ErrAuthExpired, false},
		{nats.ErrNkeysNotSupported, false},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, false},
		{x509.UnknownAuthorityError{}, false},
		{jetstream.ErrJetStreamNotEnabled, false},
		{jetstream.ErrJetStreamNotEnabledForAccount, false},
		{&jetstream.APIError{Code: 400, ErrorCode: 10074, Description: "replicas > 1 not supported in non-clustered mode"}, false},
		{&jetstream.APIError{Code: 400, ErrorCode: 10052, Description: "maximum storage exceeded"}, false},
		{errors.New("nats.url: NATS 2.9 is too old; use 2.11 or later"), false},
	} {
		if got := Unavailable(fmt.Errorf("nats.url: connecting to NATS: %w", errors.Join(test.err, nil))); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
