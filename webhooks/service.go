package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/metrics"
	"github.com/preadmit/preadmit/webhooks/playground"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// Options are the parameters of a service.
type Options struct {
	Config *Config
	// Dev is Sources.Dev.
	Dev bool
	// Version is the version of preadmit.
	Version string
	// Program is preadmit's own executable, and Args the hidden command that scans in a
	// jail.
	Program string
	Args    []string
	// PlaygroundArgs are the hidden command that judges for the playground.
	PlaygroundArgs []string
	// PlaygroundVersions are the supported minor versions of Kubernetes there, the latest first.
	PlaygroundVersions []string
	// Getenv returns the variables that files of credentials name; nil means none are set.
	Getenv func(name string) string
	// Dial makes all connections for artifacts; nil means the system's, except in tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log receives the messages of all parts; nil discards them.
	Log *slog.Logger
	// Reload makes the service read its secrets at once. It may be nil.
	Reload <-chan os.Signal
}

// Service is one replica.
type Service struct {
	options  Options
	config   *Config
	log      *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	secrets  secrets
	queue    *queue.Queue
	web, ops net.Listener // ops is nil without an address for metrics
	// temp is the directory for repositories during scans. It is absolute, since a jail
	// has a working directory of its own.
	temp string
	// judge judges for the playground; nil without one.
	judge *playground.Processes
	// fetcher fetches artifacts; nil if nothing is fetched.
	fetcher jailed.Fetcher

	handler atomic.Pointer[http.Handler] // of web
	// started is set once everything that deliveries need is ready.
	started, draining atomic.Bool
	key               devKey // of the pages, with --dev
	// readiness limits how often requests for readiness use the queue.
	readiness readiness
	failed    chan error

	mu   sync.Mutex
	live *live // nil as long as there is no App
}

// New listens on the service's addresses, and creates the data directory. Call Close or Run.
func New(ctx context.Context, o Options) (_ *Service, err error) {
	s := &Service{options: o, config: o.Config, log: o.Log, registry: prometheus.NewRegistry(), key: newDevKey(), failed: make(chan error, 8)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.metrics = metrics.New(s.registry)
	s.secrets = secrets{config: o.Config.App, dir: o.Config.DataDir}
	if s.temp, err = filepath.Abs(filepath.Join(o.Config.DataDir, tempDir)); err == nil {
		err = prepare(o.Config.DataDir)
	}
	if err != nil {
		return nil, fmt.Errorf("dataDir: %w", err)
	}
	if s.fetcher, err = newFetcher(o, s.temp); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	if s.web, err = listen(ctx, "listen", o.Config.Listen); err != nil {
		return nil, err
	}
	if o.Config.MetricsListen != "" {
		s.ops, err = listen(ctx, "metricsListen", o.Config.MetricsListen)
	}
	return s, err
}

func listen(ctx context.Context, key, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; give an address of this machine that nobody else listens at", key, err)
	}
	return l, nil
}

// Close closes the listeners, the queue and the processes of the playground. Run calls it.
func (s *Service) Close(ctx context.Context) error {
	var errs []error
	if s.judge != nil {
		s.judge.Close()
	}
	for _, l := range []net.Listener{s.web, s.ops} {
		if l != nil {
			errs = append(errs, ignoreClosed(l.Close()))
		}
	}
	if s.queue != nil {
		errs = append(errs, s.queue.Close(ctx))
	}
	return errors.Join(errs...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// URL returns the URL of the service for clients on this machine.
func (s *Service) URL() string { return "http://" + s.web.Addr().String() }

// publicURL returns the URL of the service for others.
func (s *Service) publicURL() string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL
	}
	return s.URL()
}

// Run serves until ctx ends and running scans have ended, or were returned to the queue after
// the time of drain. It ends early with the error of a part that failed.
func (s *Service) Run(ctx context.Context) error {
	defer s.drained()
	s.setHandler(s.starting())
	web, ops := s.serve(ctx, s.web, http.HandlerFunc(s.route)), s.serve(ctx, s.ops, s.operation())
	failure := s.start(ctx)
	if failure == nil && ctx.Err() == nil {
		failure = s.serveUntil(ctx)
	}
	s.drain(context.WithoutCancel(ctx), web, ops)
	return failure
}

// serveUntil waits until ctx ends, or a part fails.
func (s *Service) serveUntil(ctx context.Context) error {
	background, stop := context.WithCancel(ctx)
	defer stop()
	go s.watchSecrets(background)
	go s.prune(background)
	if s.options.Dev {
		s.log.Info("open this page", "page", s.key.address(s.URL()+"/"))
	}
	s.log.Info("listening", "url", s.URL(), "public", s.publicURL(), "version", s.options.Version, "app", s.present() != nil)

	select {
	case <-ctx.Done():
		return nil
	case failure := <-s.failed:
		s.log.Error("ending", "error", failure)
		return failure
	}
}

// settling is the minimum time for which deliveries are accepted after the service was told to end,
// unless drain is shorter. A proxy learns only a moment later that it is not ready.
const settling = time.Second

// drain ends the service: it becomes unready, starts no more scans, waits for running ones, and
// then accepts no more requests. Deliveries are accepted until then.
func (s *Service) drain(ctx context.Context, servers ...*http.Server) {
	settled := time.After(min(settling, time.Duration(s.config.Drain)))
	s.draining.Store(true)
	s.log.Info("draining", "longest", s.config.Drain.String())
	if l := s.present(); l != nil {
		l.stop()
		<-settled
	}
	limit, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, server := range servers {
		if server != nil && server.Shutdown(limit) != nil {
			_ = server.Close() // responses that are still being read
		}
	}
}

// drained closes the queue after everything else.
func (s *Service) drained() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		s.log.Error("close", "error", err)
	}
}

func (s *Service) present() *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// route passes a request to the current handler, which changes when an App is created.
func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() { // so that no request is in transit when connections are closed
		w.Header().Set("Connection", "close")
	}
	(*s.handler.Load()).ServeHTTP(w, r)
}

// setHandler makes h the current handler.
func (s *Service) setHandler(h http.Handler) { s.handler.Store(&h) }

// serve starts to serve on a listener.
func (s *Service) serve(ctx context.Context, l net.Listener, h http.Handler) *http.Server {
	if l == nil {
		return nil
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog:    slog.NewLogLogger(s.log.With("part", "http").Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
	}()
	return server
}

// prune limits the size of the store periodically.
func (s *Service) prune(ctx context.Context) {
	for every(ctx, 5*time.Minute) {
		if err := s.queue.Prune(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("drop old reports", "error", err)
		}
	}
}

// every waits for d; it returns false if ctx ended.
func every(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
