package webhooks

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/intake"
)

// router returns the routes that exist with and without an App.
func (s *Service) router(secrets func() [][]byte, appID func() int64) chi.Router {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	s.health(r)
	r.Method(http.MethodPost, app.WebhookPath, intake.New(intake.Config{
		Queue: s.queue, Secrets: secrets, AppID: appID,
		Log: s.log.With("part", "intake"), Metrics: s.metrics.Intake,
	}))
	return r
}

// private adds routes for people. With --dev these are for the user who started the service only,
// not for clients that come through a tunnel for webhooks.
func (s *Service) private(r chi.Router, add func(chi.Router)) {
	r.Group(func(r chi.Router) {
		if s.options.Dev {
			r.Use(s.key.guard)
		}
		add(r)
	})
}

// operation returns the routes for operators of the service.
func (s *Service) operation() http.Handler {
	r := chi.NewRouter()
	s.health(r)
	r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{ErrorLog: nil}))
	return r
}

func (s *Service) health(r chi.Router) {
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	r.Get("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := s.unready(); why != "" {
			answer(w, http.StatusServiceUnavailable, why)
			return
		}
		answer(w, http.StatusOK, "ready")
	})
}

// notStarted is why a service is not ready before the queue is open.
const notStarted = "the service is starting; see its log"

// unready returns why no delivery should be sent here, or "". A service that has no App yet
// accepts deliveries, for later.
func (s *Service) unready() string {
	switch {
	case s.draining.Load():
		return "the service is ending"
	case !s.started.Load():
		return notStarted
	}
	return s.readiness.check()
}

// readiness checks the queue, which costs a write, and caches the result for a moment, since
// anybody may send any number of requests.
type readiness struct {
	try func(context.Context) error
	log *slog.Logger

	mu   sync.Mutex
	why  string
	then time.Time
}

// readinessAge is how long a result is cached.
const readinessAge = time.Second

// check returns why the queue does not accept writes, or "".
func (r *readiness) check() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.then) < readinessAge {
		return r.why
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	r.why = ""
	if err := r.try(ctx); err != nil {
		r.log.Warn("not ready", "error", err)
		r.why = "the queue accepts no jobs; see the log"
	}
	r.then = time.Now()
	return r.why
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client may have disconnected
}
