package webhooks

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/reconcile"
	"github.com/preadmit/preadmit/webhooks/worker"
)

// live is the part of a service that needs an App.
type live struct {
	app *app.App
	// cancel stops claiming jobs, and ended is closed when the last one has ended.
	cancel context.CancelFunc
	ended  chan struct{}
}

// stop waits until jobs in progress have ended or were returned to the queue.
func (l *live) stop() {
	l.cancel()
	<-l.ended
}

// goLive starts everything that needs an App.
func (s *Service) goLive(ctx context.Context, c app.Credentials) error {
	a, err := s.newApp(c)
	if err != nil {
		return err
	}
	p, err := pages.New(s.pagesConfig(a))
	if err != nil {
		return err
	}
	r := s.router(a.WebhookSecrets, a.ID)
	s.private(r, p.Routes)
	if err := s.tryPolicies(r); err != nil {
		return err
	}
	s.setHandler(r)
	s.work(ctx, a)
	return nil
}

// newApp returns the App. Its secrets are validated as far as that is possible without GitHub.
func (s *Service) newApp(c app.Credentials) (*app.App, error) {
	return app.New(app.Config{
		BaseURL: s.apiURL(), WebURL: s.config.GitHub.URL, Credentials: c,
		Log: s.log.With("part", "app"), Metrics: s.metrics.GitHub,
	})
}

// waitForApp asks GitHub for the App until it answers. If GitHub rejects the credentials, the
// service ends. If GitHub does not answer, the service continues: deliveries are accepted in
// the meantime.
func (s *Service) waitForApp(ctx context.Context, a *app.App) error {
	for {
		slug, id, err := requestApp(ctx, a)
		switch {
		case err == nil:
			s.log.Info("the App is known to GitHub", "app", id, "slug", slug)
			return nil
		case errors.Is(err, app.ErrCredentials), ctx.Err() != nil:
			return err
		}
		s.log.Warn("GitHub does not say who the App is; deliveries are taken, and judged when it answers", "again", appRetry.String(), "error", err)
		if !every(ctx, appRetry) {
			return ctx.Err()
		}
	}
}

// requestApp requests the App's slug and ID from GitHub once.
func requestApp(ctx context.Context, a *app.App) (slug string, id int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, appTimeout)
	defer cancel()
	return a.Self(ctx)
}

// apiURL returns the root of GitHub's API.
func (s *Service) apiURL() string {
	switch g := s.config.GitHub; {
	case g.APIURL != "":
		return g.APIURL
	case strings.TrimSuffix(g.URL, "/") == app.DefaultWebURL:
		return app.DefaultBaseURL
	default:
		return strings.TrimSuffix(g.URL, "/") + "/api/v3/"
	}
}

// work starts the worker and the reconciliation.
func (s *Service) work(ctx context.Context, a *app.App) {
	ctx, cancel := context.WithCancel(ctx)
	l := &live{app: a, cancel: cancel, ended: make(chan struct{})}
	s.mu.Lock()
	s.live = l
	s.mu.Unlock()
	var parts sync.WaitGroup
	runs := []func(context.Context) error{
		func(ctx context.Context) error { return s.waitForApp(ctx, a) },
		worker.New(s.workerConfig(a)).Run,
	}
	if every := time.Duration(s.config.Reconcile.Every); every > 0 {
		runs = append(runs, reconcile.New(reconcile.Config{
			Queue: s.queue, App: a, Name: s.config.CheckName, Every: every,
			Log: s.log.With("part", "reconcile"), Metrics: s.metrics.Reconcile,
		}).Run)
	}
	for _, run := range runs {
		parts.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				s.failed <- err
			}
		})
	}
	go func() { parts.Wait(); close(l.ended) }()
}

func (s *Service) workerConfig(a *app.App) worker.Config {
	c, log := s.config, s.log.With("part", "worker")
	return worker.Config{
		Queue: s.queue, App: a,
		Scanner:     s.scanner(),
		Concurrency: c.Scan.Concurrency, Drain: time.Duration(c.Drain), Forks: worker.Forks(c.Forks),
		PublicURL: strings.TrimSuffix(s.publicURL(), "/"), Name: c.CheckName, Version: s.options.Version,
		Limits: worker.FetchLimits{
			Limits: gittree.Limits{Bytes: int64(c.Fetch.Size), Objects: int64(c.Fetch.Objects)},
			Time:   time.Duration(c.Fetch.Timeout),
		},
		TempDir: s.temp,
		Log:     log, Metrics: s.metrics.Worker, Jail: s.metrics.Jail,
	}
}

// scanner returns the scanner that uses a jail.
func (s *Service) scanner() *jailed.Scanner {
	c := s.config.Scan
	return &jailed.Scanner{
		Program: s.options.Program, Args: s.options.Args, BestEffort: c.Jail == jailBestEffort, Log: s.log.With("part", "worker"), Fetcher: s.fetcher,
		Limits: jailed.Limits{Memory: int64(c.Memory), Wall: time.Duration(c.Timeout), Workers: c.Workers},
	}
}

func (s *Service) pagesConfig(a *app.App) pages.Config {
	c := s.config.Pages
	config := pages.Config{
		Queue: s.queue, App: a, PublicURL: s.publicURL(), Access: pages.Access(c.Access),
		Header: c.Header, Admins: c.Admins,
		Version: s.options.Version, Log: s.log.With("part", "pages"),
	}
	if s.options.Dev { // --dev listens on the loopback interface only
		config.Access, config.PublicURL = pages.AccessOpen, s.URL()
	}
	for _, cidr := range c.TrustedProxies {
		config.Proxies = append(config.Proxies, netip.MustParsePrefix(cidr)) // ReadConfig parsed it
	}
	for _, t := range s.config.API.Tokens {
		config.Tokens = append(config.Tokens, pages.Token{Name: t.Name, SHA256: t.SHA256, Repositories: t.Repositories})
	}
	return config
}
