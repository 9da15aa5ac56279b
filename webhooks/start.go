package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// openAgain is how long the service waits before it connects to an external NATS again.
const openAgain = 3 * time.Second

// jailBestEffort is the value of scan.jail that allows scans without a complete jail.
const jailBestEffort = "best-effort"

// start opens the queue, and starts everything else. It waits for an external NATS until ctx
// ends.
func (s *Service) start(ctx context.Context) (err error) {
	if err := s.probeJail(ctx); err != nil {
		return err
	}
	if s.queue, err = s.open(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	s.readiness = readiness{try: s.queue.Ready, log: s.log}
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.started.Store(true)
	return nil
}

// probeJail starts a process in a jail, so that a system without support for it is found before the
// first pull request. With scan.jail: required the service does not start there.
func (s *Service) probeJail(ctx context.Context) error {
	err := s.scanner().Probe(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case s.config.Scan.Jail == jailBestEffort:
		s.log.Warn("scans are not wholly jailed here: what a pull request holds may reach what this process can", "lacking", err.Error())
		return nil
	}
	return fmt.Errorf("scan.jail: required, but no scan can be jailed here: %w; where everybody who can open a pull request is trusted, "+
		"scan.jail: best-effort scans with as much of a jail as there is", err)
}

// storeError means that an external NATS does not work as configured. It names the key.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// open opens the queue. If an external NATS is not reachable yet, or has no leader, it waits,
// since NATS may be started at the same time. The queue is nil, without an error, if ctx
// ended.
func (s *Service) open(ctx context.Context) (*queue.Queue, error) {
	for {
		q, err := queue.Open(ctx, s.queueConfig())
		switch {
		case ctx.Err() != nil:
			if err == nil {
				return nil, q.Close(context.WithoutCancel(ctx))
			}
			return nil, nil // asked to end while it was opened
		case err == nil:
			return q, nil
		case s.config.NATS.URL == "":
			return nil, err
		case !queue.Unavailable(err):
			return nil, &storeError{err}
		}
		s.log.Warn("waiting for NATS; no delivery is taken before", "again", openAgain.String(), "error", err)
		if !every(ctx, openAgain) {
			return nil, nil
		}
	}
}

func (s *Service) queueConfig() queue.Config {
	c := s.config
	return queue.Config{
		Dir: filepath.Join(c.DataDir, "nats"),
		URL: c.NATS.URL, CredentialsFile: c.NATS.CredentialsFile, CAFile: c.NATS.CAFile, Replicas: c.NATS.Replicas,
		Lease: time.Duration(c.Queue.Lease), Attempts: c.Queue.Attempts, PerInstallation: c.Queue.PerInstallation,
		KeepAge: time.Duration(c.Keep.Age), KeepScans: c.Keep.Scans, KeepBytes: int64(c.Keep.Size),
		Failed: func(err error) { s.failed <- err },
		Log:    s.log.With("part", "queue"), Metrics: s.metrics.Queue,
	}
}

// begin starts what needs an App, if there is one, or serves /setup.
func (s *Service) begin(ctx context.Context) error {
	credentials, err := s.secrets.read()
	switch {
	case errors.Is(err, errNoApp) && s.options.Dev:
		return s.withoutApp()
	case err != nil:
		return err
	}
	return s.goLive(ctx, credentials)
}

// starting returns the handler for the time before the queue is open: it reports that the process
// is alive and not ready. Deliveries that arrive meanwhile fail, and are requested again later.
func (s *Service) starting() http.Handler {
	r := chi.NewRouter()
	s.health(r)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusServiceUnavailable, notStarted)
	})
	return r
}
