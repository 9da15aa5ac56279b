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

// openAgain is how long the service waits before it tries again to reach an external NATS.
const openAgain = 3 * time.Second

// jailBestEffort is the value of scan.jail that scans also where there is no whole jail.
const jailBestEffort = "best-effort"

// start opens the queue, and brings up all else. It waits for what may come by itself, as
// long as ctx does not end.
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

// probeJail has a process enter a jail, so that a system where none can is found before the
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

// storeError is that an external NATS does not do as it is configured. It names the key.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// open opens the queue. That an external NATS is not there yet, or has no leader, is no
// reason to end: it may be started at the same time. The queue is nil, without an error,
// when ctx ended.
func (s *Service) open(ctx context.Context) (*queue.Queue, error) {
	for {
		q, err := queue.Open(ctx, s.queueConfig())
		switch {
		case ctx.Err() != nil:
			if err == nil {
				return nil, q.Close(context.WithoutCancel(ctx))
			}
			return nil, nil // told to end while it was opened
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

// begin brings up what needs an App, if there is one, and decides what is served.
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

// starting is what is served before there is a queue: that the process lives, and that
// nothing should be sent here yet. GitHub is asked later for deliveries that come in spite
// of it.
func (s *Service) starting() http.Handler {
	r := chi.NewRouter()
	s.health(r)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusServiceUnavailable, notStarted)
	})
	return r
}
