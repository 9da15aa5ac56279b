package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// startWait is how long the embedded server may take to read its data.
const startWait = 2 * time.Minute

// embedded is the server in this process. It listens to nobody.
type embedded struct {
	dir  string
	log  *slog.Logger
	lock *os.File

	mu     sync.Mutex
	server *server.Server // of the moment, see restart
}

// startEmbedded starts a server that keeps its data in dir, which this process alone uses
// until the server is stopped.
func startEmbedded(dir string, log *slog.Logger) (*embedded, error) {
	if dir == "" {
		return nil, errors.New("dataDir: is empty; name a directory for what the service keeps, or give nats.url")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("dataDir: %w; name a directory that this user may make and write", err)
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("dataDir: %s: %w", dir, err)
	}
	e := &embedded{dir: dir, log: log, lock: lock}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, unlockFile(lock))
	}
	return e, nil
}

// maxStore is no bound: what is kept is bounded by the configuration of the queue, and by the
// disk. Without a number the server would take the free space at its start for one.
const maxStore = 1 << 50

// start starts a server. It is called with mu, or before others have e.
func (e *embedded) start() error {
	s, err := server.NewServer(&server.Options{
		ServerName: "preadmit", DontListen: true, NoSigs: true,
		JetStream: true, StoreDir: e.dir, SyncAlways: true, JetStreamMaxStore: maxStore,
	})
	if err != nil {
		return fmt.Errorf("dataDir: making the embedded server: %w", err)
	}
	s.SetLoggerV2(serverLog{e.log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(startWait) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return fmt.Errorf("dataDir: the embedded server did not start on %s; see its log", e.dir)
	}
	e.server = s
	return nil
}

// present is the server of the moment.
func (e *embedded) present() *server.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.server
}

// InProcessConn connects to the server of the moment.
func (e *embedded) InProcessConn() (net.Conn, error) { return e.present().InProcessConn() }

// stop ends the server and gives its directory back.
func (e *embedded) stop(ctx context.Context) error {
	s := e.present()
	s.Shutdown()
	done := make(chan struct{})
	go func() {
		s.WaitForShutdown()
		close(done)
	}()
	select {
	case <-ctx.Done():
		return fmt.Errorf("stopping the embedded server: %w", ctx.Err())
	case <-done:
	}
	return unlockFile(e.lock)
}

// connect opens a connection within the process, and again whenever there is another server.
func (e *embedded) connect() (*nats.Conn, error) {
	conn, err := nats.Connect("", nats.InProcessServer(e), nats.Name("preadmit"),
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("connecting to the embedded server: %w", err)
	}
	return conn, nil
}

// connectExternal connects to the servers of the configuration, and again whenever the
// connection is lost.
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

// dial is nats.Connect that ends with ctx: that one tries each server for seconds that says
// nothing. Should it connect all the same, the connection is closed.
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

// serverLog hands on what the embedded server has to say that is not routine.
type serverLog struct{ log *slog.Logger }

func (l serverLog) say(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "embedded NATS: "+strings.TrimSpace(fmt.Sprintf(format, v...)))
}

func (l serverLog) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (l serverLog) Warnf(format string, v ...any)   { l.say(slog.LevelWarn, format, v) }
func (l serverLog) Fatalf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l serverLog) Errorf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l serverLog) Debugf(string, ...any)           {}
func (l serverLog) Tracef(string, ...any)           {}

// Unavailable reports whether an error of Open may end by itself: no server of an external NATS can
// be reached, or the cluster has no leader yet, or too few servers. Credentials and
// certificates that are not taken are none of these.
func Unavailable(err error) bool {
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
