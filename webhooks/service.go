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

// Options are what a service is made of.
type Options struct {
	Config *Config
	// Dev is that of Sources.
	Dev bool
	// Version is preadmit's own.
	Version string
	// Program is preadmit's own file, and Args the hidden command by which it scans in a
	// jail.
	Program string
	Args    []string
	// PlaygroundArgs are the hidden command by which it judges what is tried on the playground.
	PlaygroundArgs []string
	// PlaygroundVersions are the minor versions of Kubernetes that it can judge as, the latest first.
	PlaygroundVersions []string
	// Getenv looks up the variables that files of credentials name; nil has none.
	Getenv func(name string) string
	// Dial makes all connections for artifacts instead of the system; nil but in tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log is where all parts log; nil discards it.
	Log *slog.Logger
	// Reload makes the service look for new secrets at once. It may be nil.
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
	// temp is where repositories are while they are scanned. It is absolute, since a jail
	// has a working directory of its own.
	temp string
	// judge judges what is tried on the playground; nil without one.
	judge *playground.Processes
	// fetcher is nil when nothing is fetched of what lies outside of repositories.
	fetcher jailed.Fetcher

	handler atomic.Pointer[http.Handler] // of web
	// started is set once all is there that deliveries need.
	started, draining atomic.Bool
	key               devKey // of the pages, with --dev
	// readiness answers everybody once the service is started, and asks the queue seldom.
	readiness readiness
	failed    chan error

	mu   sync.Mutex
	live *live // nil as long as there is no App
}

// New takes the service's addresses, and makes the data directory. Close it, or Run it.
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

// Close releases what New took, for a service that is not run.
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

// URL is where the service listens, for clients on this machine.
func (s *Service) URL() string { return "http://" + s.web.Addr().String() }

// publicURL is where others reach it.
func (s *Service) publicURL() string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL
	}
	return s.URL()
}

// Run serves until ctx ends and running scans are done, or given back to the queue after
// the time of drain. It ends early with the error of a part that cannot go on.
func (s *Service) Run(ctx context.Context) error {
	defer s.drained()
	s.show(s.starting())
	web, ops := s.serve(ctx, s.web, http.HandlerFunc(s.route)), s.serve(ctx, s.ops, s.operation())
	failure := s.start(ctx)
	if failure == nil && ctx.Err() == nil {
		failure = s.last(ctx)
	}
	s.drain(context.WithoutCancel(ctx), web, ops)
	return failure
}

// last goes on until ctx ends, or a part cannot go on.
func (s *Service) last(ctx context.Context) error {
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

// settling is how long deliveries are accepted at least once the service has been asked to end, unless
// drain is shorter. A proxy learns a moment later that they go elsewhere.
const settling = time.Second

// drain ends the service: it is not ready any more, starts no more scans, finishes those
// that run, and then takes no more requests. Deliveries are taken until the end.
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
			_ = server.Close() // pages that are still read
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

// route passes a request to the handler of the moment, which changes when there is an
// App.
func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() { // so that no request is on its way when connections are closed
		w.Header().Set("Connection", "close")
	}
	(*s.handler.Load()).ServeHTTP(w, r)
}

// show has the router's answers be the service's.
func (s *Service) show(h http.Handler) { s.handler.Store(&h) }

// serve begins to serve on a listener.
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

// prune keeps the store within its bounds.
func (s *Service) prune(ctx context.Context) {
	for every(ctx, 5*time.Minute) {
		if err := s.queue.Prune(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("drop old reports", "error", err)
		}
	}
}

// every waits for d; false means that ctx ended.
func every(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
