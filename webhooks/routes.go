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

// router is what every service serves, with or without an App.
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

// private adds what people see. With --dev that is for the user who started the service: a client
// that comes by a tunnel, made for webhooks, sees nothing.
func (s *Service) private(r chi.Router, add func(chi.Router)) {
	r.Group(func(r chi.Router) {
		if s.options.Dev {
			r.Use(s.key.guard)
		}
		add(r)
	})
}

// operation is what is served to operators of the service.
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

// notStarted is why a service is not ready before there is a queue.
const notStarted = "the service is starting; the log says what it waits for"

// unready says why no delivery should be sent here, "" when one may be. A service that
// has no App yet takes deliveries, for later.
func (s *Service) unready() string {
	switch {
	case s.draining.Load():
		return "the service is ending"
	case !s.started.Load():
		return notStarted
	}
	return s.readiness.ask()
}

// readiness tries the queue, which costs a write, and remembers for a moment what came of
// it: anybody may ask, as often as they like.
type readiness struct {
	try func(context.Context) error
	log *slog.Logger

	mu   sync.Mutex
	why  string
	then time.Time
}

// remembered is how long an answer holds.
const remembered = time.Second

// ask says why the queue takes nothing, "" when it does.
func (r *readiness) ask() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.then) < remembered {
		return r.why
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	r.why = ""
	if err := r.try(ctx); err != nil {
		r.log.Warn("not ready", "error", err)
		r.why = "the queue takes nothing; the log says why"
	}
	r.then = time.Now()
	return r.why
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the prober may be gone
}
