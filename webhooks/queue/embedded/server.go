package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// StartWait is how long the embedded server may take to read its data.
const StartWait = 2 * time.Minute

// Server is a NATS server in this process. It does not listen on the network.
type Server struct {
	dir  string
	log  *slog.Logger
	lock *os.File

	mu     sync.Mutex
	server *server.Server // the current one; see Restart
}

// Start starts a server that keeps its data in dir, which it locks against other processes
// until the server is stopped.
func Start(dir string, log *slog.Logger) (*Server, error) {
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
	e := &Server{dir: dir, log: log, lock: lock}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, unlockFile(lock))
	}
	return e, nil
}

// maxStore means no limit: the configuration of the queue, and the disk, limit what is stored.
// Without a value the server would use the free space at its start as a limit.
const maxStore = 1 << 50

// start starts a server. The caller holds e.mu, or is the only user of e.
func (e *Server) start() error {
	s, err := server.NewServer(&server.Options{
		ServerName: "preadmit", DontListen: true, NoSigs: true,
		JetStream: true, StoreDir: e.dir, SyncAlways: true, JetStreamMaxStore: maxStore,
	})
	if err != nil {
		return fmt.Errorf("dataDir: making the embedded server: %w", err)
	}
	s.SetLoggerV2(serverLog{e.log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(StartWait) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return fmt.Errorf("dataDir: the embedded server did not start on %s; see its log", e.dir)
	}
	e.server = s
	return nil
}

// present returns the current server.
func (e *Server) present() *server.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.server
}

// InProcessConn connects to the current server.
func (e *Server) InProcessConn() (net.Conn, error) { return e.present().InProcessConn() }

// Stop ends the server and releases its directory.
func (e *Server) Stop(ctx context.Context) error {
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

// Connect opens a connection within the process. It reconnects after a Restart.
func (e *Server) Connect() (*nats.Conn, error) {
	conn, err := nats.Connect("", nats.InProcessServer(e), nats.Name("preadmit"),
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("connecting to the embedded server: %w", err)
	}
	return conn, nil
}

// serverLog logs the messages of the embedded server.
type serverLog struct{ log *slog.Logger }

func (l serverLog) write(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "embedded NATS: "+strings.TrimSpace(fmt.Sprintf(format, v...)))
}

func (l serverLog) Noticef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }
func (l serverLog) Warnf(format string, v ...any)   { l.write(slog.LevelWarn, format, v) }
func (l serverLog) Fatalf(format string, v ...any)  { l.write(slog.LevelError, format, v) }
func (l serverLog) Errorf(format string, v ...any)  { l.write(slog.LevelError, format, v) }
func (l serverLog) Debugf(string, ...any)           {}
func (l serverLog) Tracef(string, ...any)           {}

// Health returns why the server does not accept writes, or nil if it does.
func (e *Server) Health() error {
	s := e.present()
	if !s.JetStreamEnabled() {
		return errors.New("JetStream has been switched off")
	}
	health := s.Healthz(nil)
	for range busyTries {
		if health.StatusCode != http.StatusInternalServerError {
			break
		}
		health = s.Healthz(nil)
	}
	if health.Error != "" {
		return errors.New(health.Error)
	}
	return nil
}

// busyTries is how often Health repeats the check of a server that reports that it has not started:
// the server allows itself only a millisecond for the check, which can pass on a busy machine.
const busyTries = 20

// room is the size in bytes of the file that TryDisk writes.
const room = 16 << 20

// TryDisk returns an error if the disk does not accept a file of some size.
func (e *Server) TryDisk() error {
	file, err := os.Create(filepath.Join(e.dir, "room"))
	if err != nil {
		return fmt.Errorf("dataDir: %w", err)
	}
	_, err = file.Write(make([]byte, room))
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("dataDir: %w", err)
	}
	return nil
}

// Restart stops the server and starts another, which reads the data from disk again.
func (e *Server) Restart() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server.Shutdown()
	e.server.WaitForShutdown()
	return e.start()
}
