package queue

import (
	"errors"
	"io"
	"net"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Away tells whether an error of Open may end by itself: no server of an external NATS can
// be reached, or the cluster has no leader yet, or too few servers. Credentials and
// certificates that are not taken are none of these.
func Away(err error) bool {
	var network net.Error // a deadline is one too
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "remote error": // of TLS: the server refuses
		return false
	case errors.As(err, &network):
		return true
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		const noPeers = 10005 // a cluster whose servers are not all there
		return api.ErrorCode == noPeers || api.Code == 503 && !errors.Is(err, jetstream.ErrJetStreamNotEnabled) && !errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
	}
	for _, away := range []error{nats.ErrNoServers, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrConnectionClosed, nats.ErrStaleConnection, nats.ErrDisconnected,
		jetstream.ErrNoStreamResponse, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, away) {
			return true
		}
	}
	return false
}
