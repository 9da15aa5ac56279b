package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// echo is a gateway in front of GitHub whose error responses contain the whole request.
type echo struct {
	status int
	path   string
}

func (e *echo) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, e.path) {
		return http.DefaultTransport.RoundTrip(r)
	}
	text := fmt.Sprintf(`{"message":"you said %s"}`, strings.ReplaceAll(fmt.Sprint(r.Header), `"`, ""))
	if e.status == 0 {
		return nil, fmt.Errorf("proxy says %s", text)
	}
	return &http.Response{
		Status: "refused", StatusCode: e.status, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader([]byte(text))),
	}, nil
}

// TestSecretsStayInside checks that secrets are not in errors, even with such a gateway, and not in
// logs.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	for _, path := range []string{"/access_tokens", "/shop", "/app", "/deliveries", "/installation"} {
		for _, code := range []int{0, 400, 401, 403, 404, 422, 500} {
			config := w.config()
			config.Transport = &echo{code, path}
			a, err := New(config)
			if err != nil {
				t.Fatal(err)
			}
			var errs []error
			_, _, err = a.Self(ctx)
			errs = append(errs, err)
			errs = append(errs, get(ctx, a.Repository(w.installed.ID(), w.repo.ID()), w.repo))
			_, err = a.FailedDeliveries(ctx, w.clock.Now())
			errs = append(errs, err)
			_, _, err = a.InstallationOf(ctx, "octo", "shop")
			errs = append(errs, err)
			if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
				t.Errorf("%s %d: nothing went wrong", path, code)
			}
			for _, err := range errs {
				quiet(t, w, fmt.Sprintf("%s %d: %v", path, code, err))
			}
			slog.New(slog.NewJSONHandler(w.log, nil)).Info("credentials", "all", w.credentials(), "errors", errs)
			quiet(t, w, w.log.String())
		}
	}
}

// quiet checks that a text contains no secrets.
func quiet(t *testing.T, w *env, text string) {
	t.Helper()
	own := append(w.Tokens(), w.theirs.ClientSecret, w.theirs.WebhookSecret(), string(w.theirs.PrivateKey[50:90]), "eyJ")
	for _, secret := range own {
		if strings.Contains(text, secret) {
			t.Errorf("%s\nholds %s", text, secret)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	for text, want := range map[string]string{
		"a ghs_16C7e42F292c6912E7710c838347Ae178B4a b":                             "a [secret] b",
		"token ghs_12345_eyJhbGciOiJFUzI1NiJ9.eyJuIjoxfQ.c2ln-_x!":                 "token [secret]!",
		"Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJl,":                "Bearer [secret],",
		"ghu_abcdefghijklmnop github_pat_11AAAAAAA_bbbbbbbb":                       "[secret] [secret]",
		"v1.0123456789abcdef0123456789abcdef01234567":                              "[secret]",
		"x -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- y": "x [secret] y",
		"-----BEGIN PRIVATE KEY-----\nMIIE":                                        "[secret]",
		"the secret webhook-secret":                                                "the secret [secret]",
		"nothing about ghs_ or keys":                                               "nothing about ghs_ or keys",
	} {
		if got := w.ours.redact(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := fmt.Sprintf("%v %+v %#v %s", w.credentials(), w.credentials(), w.credentials(), w.credentials()); strings.Contains(got, "webhook-secret") {
		t.Errorf("printed: %s", got)
	}
}
