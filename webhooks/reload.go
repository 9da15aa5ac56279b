package webhooks

import (
	"context"
	"time"

	"github.com/preadmit/preadmit/webhooks/app"
)

// readEvery is how often files with secrets are read: Kubernetes replaces them without
// notification.
const readEvery = 15 * time.Second

// appTimeout is the timeout for GitHub's answer about the App.
const appTimeout = 20 * time.Second

// appRetry is how long the service waits before it asks GitHub for the App again.
const appRetry = 30 * time.Second

// watchSecrets reloads credentials when their files change or Options.Reload requests it.
func (s *Service) watchSecrets(ctx context.Context) {
	for s.waitForRead(ctx) {
		l := s.present()
		if l == nil {
			continue
		}
		c, err := s.secrets.read()
		if err == nil && sameCredentials(c, l.app.Credentials()) {
			continue
		}
		if err == nil {
			err = reload(ctx, l.app, c)
		}
		if err != nil {
			s.log.Error("new credentials are not taken; the present ones stay", "error", err)
			continue
		}
		s.log.Info("took new credentials", "app", c.ID)
	}
}

// reload replaces the credentials, unless GitHub rejects them or does not answer: then the
// next read tries again.
func reload(ctx context.Context, a *app.App, c app.Credentials) error {
	ctx, cancel := context.WithTimeout(ctx, appTimeout)
	defer cancel()
	return a.Reload(ctx, c)
}

// waitForRead waits until it is time to read the files; it returns false if ctx ended.
func (s *Service) waitForRead(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.options.Reload:
	case <-time.After(readEvery):
	}
	return true
}

// withoutApp stores webhooks for later and serves the page that creates an App.
func (s *Service) withoutApp() error {
	secret, err := s.secrets.devSecret()
	if err != nil {
		return err
	}
	page, err := newSetup(s, secret)
	if err != nil {
		return err
	}
	r := s.router(func() [][]byte { return [][]byte{[]byte(secret)} }, func() int64 { return 0 })
	s.private(r, page.routes)
	if err := s.tryPolicies(r); err != nil {
		return err
	}
	s.setHandler(r)
	s.log.Info("there is no GitHub App yet: the page makes one")
	return nil
}
