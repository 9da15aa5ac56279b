package webhooks

import (
	"context"
	"time"

	"github.com/preadmit/preadmit/webhooks/app"
)

// lookAgain is how often files with secrets are read: Kubernetes replaces them without
// telling.
const lookAgain = 15 * time.Second

// askingWho is how long GitHub may take to say who an App is.
const askingWho = 20 * time.Second

// introduceAgain is how long the service waits before it asks GitHub again who the App is.
const introduceAgain = 30 * time.Second

// watchSecrets takes new credentials when their files change, or Options.Reload asks for it.
func (s *Service) watchSecrets(ctx context.Context) {
	for s.wakes(ctx) {
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

// reload takes new credentials, unless GitHub refuses them or does not answer: the next
// look tries again.
func reload(ctx context.Context, a *app.App, c app.Credentials) error {
	ctx, cancel := context.WithTimeout(ctx, askingWho)
	defer cancel()
	return a.Reload(ctx, c)
}

// wakes waits until it is time to look; false means that ctx ended.
func (s *Service) wakes(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.options.Reload:
	case <-time.After(lookAgain):
	}
	return true
}

// withoutApp takes webhooks for later and offers to make an App.
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
	s.show(r)
	s.log.Info("there is no GitHub App yet: the page makes one")
	return nil
}
