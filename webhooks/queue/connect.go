package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// connectExternal connects to the servers of the configuration. The connection reconnects
// whenever it is lost.
func connectExternal(ctx context.Context, c Config) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("preadmit"), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.Log.Warn("the connection to NATS was lost", "err", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.Log.Info("the connection to NATS is back") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.Log.Warn("NATS", "err", err) }),
	}
	for _, file := range []struct {
		key, name string
		option    func(string) nats.Option
	}{
		{"nats.credentialsFile", c.CredentialsFile, func(name string) nats.Option { return nats.UserCredentials(name) }},
		{"nats.caFile", c.CAFile, func(name string) nats.Option { return nats.RootCAs(name) }},
	} {
		if file.name == "" {
			continue
		}
		if _, err := os.ReadFile(file.name); err != nil {
			return nil, fmt.Errorf("%s: %w; name a file that this user may read", file.key, err)
		}
		options = append(options, file.option(file.name))
	}
	conn, err := dial(ctx, c.URL, options)
	if err != nil {
		return nil, fmt.Errorf("nats.url: connecting to NATS: %w; check the URLs, nats.credentialsFile and nats.caFile", err)
	}
	return conn, nil
}

// dial calls nats.Connect and returns when ctx ends. nats.Connect takes no context, and waits
// seconds for a server that does not answer. If it connects after ctx ended, the connection is closed.
func dial(ctx context.Context, url string, options []nats.Option) (*nats.Conn, error) {
	type result struct {
		conn *nats.Conn
		err  error
	}
	made := make(chan result)
	go func() {
		conn, err := nats.Connect(url, options...)
		select {
		case made <- result{conn, err}:
		case <-ctx.Done():
			if conn != nil {
				conn.Close()
			}
		}
	}()
	select {
	case r := <-made:
		return r.conn, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Unavailable reports whether the cause of an error of Open may go away by itself: no server of an
// external NATS can be reached, or the cluster has no leader yet, or too few servers. Rejected
// credentials or certificates are not such a cause.
func Unavailable(err error) bool {
	var network net.Error // an exceeded deadline is one too
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "remote error": // of TLS: the server rejects the client
		return false
	case errors.As(err, &network):
		return true
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		const noPeers = 10005 // too few servers of the cluster are running
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
