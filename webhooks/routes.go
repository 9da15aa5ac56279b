package webhooks

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
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

// private adds what people see. With --dev that is for this machine only: who comes by a
// tunnel, made for webhooks, or by a name that was made to lead here, sees nothing.
func (s *Service) private(r chi.Router, add func(chi.Router)) {
	r.Group(func(r chi.Router) {
		if s.options.Dev {
			r.Use(loopbackOnly)
		}
		add(r)
	})
}

func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if ip, err := netip.ParseAddr(host); !strings.EqualFold(host, "localhost") && (err != nil || !ip.IsLoopback()) {
			http.Error(w, "with --dev the pages are for this machine only, by the address the service listens on", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// operation is what is served to who runs the service.
func (s *Service) operation() http.Handler {
	r := chi.NewRouter()
	s.health(r)
	r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{ErrorLog: nil}))
	return r
}

func (s *Service) health(r chi.Router) {
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	r.Get("/readyz", func(w http.ResponseWriter, r *http.Request) {
		if why := s.unready(r.Context()); why != "" {
			answer(w, http.StatusServiceUnavailable, why)
			return
		}
		answer(w, http.StatusOK, "ready")
	})
}

// unready says why no delivery should be sent here, "" when one may be. A service that
// has no App yet takes deliveries, for later.
func (s *Service) unready(ctx context.Context) string {
	if s.draining.Load() {
		return "the service is ending"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.queue.Ready(ctx); err != nil {
		s.log.Warn("not ready", "error", err)
		return "the queue takes nothing; the log says why"
	}
	return ""
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the prober may be gone
}
