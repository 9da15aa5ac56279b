package app

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/preadmit/preadmit/report/github/retry"
)

// maxRefusal bounds what is read of an answer that refuses.
const maxRefusal = 1 << 20

// meter counts requests and what is left of the rate limit, and cleans answers that
// refuse: they are what ends up in errors.
type meter struct {
	app          *App
	installation int64 // 0: the App itself
}

func (a *App) meter(installation int64) http.RoundTripper { return &meter{a, installation} }

// RoundTrip sends one request once.
func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	class := m.app.classOf(req)
	began := time.Now()
	resp, err := m.app.next.RoundTrip(req)
	m.app.metrics.Took(class, time.Since(began))
	if err != nil {
		m.app.metrics.Call(class, 0)
		return nil, m.app.clean(err)
	}
	m.app.metrics.Call(class, resp.StatusCode)
	m.remaining(class, resp)
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	text, err := m.app.cleaned(resp)
	if err != nil {
		return nil, err
	}
	if retry.Limited(resp, text) {
		m.app.metrics.Limited(class)
	}
	return resp, nil
}

// remaining returns how many requests are left of the hour: the installation's, or the App's own where it
// asks as itself.
func (m *meter) remaining(class string, resp *http.Response) {
	installation := m.installation
	if class == "access-tokens" {
		installation = 0
	}
	if left, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining")); err == nil && left >= 0 {
		m.app.metrics.Remaining(installation, left)
	}
}

// cleaned reads the body of an answer, and puts one in its place that has no secrets.
func (a *App) cleaned(resp *http.Response) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }() // all that matters of it is read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return nil, errors.New("read the answer: " + a.redact(err.Error()))
	}
	text = []byte(a.redact(string(text)))
	resp.Body, resp.ContentLength = &readBody{bytes.NewReader(text), text}, int64(len(text))
	resp.Header.Del("Content-Length")
	return text, nil
}

// readBody is the body of an answer that refuses, which may be read more than once.
type readBody struct {
	*bytes.Reader
	text []byte
}

func (*readBody) Close() error { return nil }

// Outcomes of asking for a token, as metrics call them.
const (
	tokenGranted  = "granted"
	tokenNarrowed = "narrowed" // to less than was wanted, since the installation grants no more
	tokenRefused  = "refused"
	tokenFailed   = "failed" // no answer, or one that GitHub is to blame for
)

// tokenMeter counts the tokens that are requested. Each one that is received counts as counts.
type tokenMeter struct {
	app    *App
	counts string
	next   http.RoundTripper
}

// RoundTrip sends a request, whatever it is for.
func (m *tokenMeter) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(req)
	if m.app.classOf(req) != "access-tokens" {
		return resp, err
	}
	switch {
	case err != nil || resp.StatusCode >= http.StatusInternalServerError:
		m.app.metrics.Token(tokenFailed)
	case resp.StatusCode >= http.StatusBadRequest:
		m.app.metrics.Token(tokenRefused)
	default:
		m.app.metrics.Token(m.counts)
	}
	return resp, err
}

// classOf names the route of a request.
func (a *App) classOf(req *http.Request) string {
	return classOf(strings.TrimPrefix(req.URL.Path, a.base.Path))
}

// isAPI reports whether a URL is of GitHub's API, which alone receives tokens.
func (a *App) isAPI(u *url.URL) bool { return u.Scheme == a.base.Scheme && u.Host == a.base.Host }

// Classes are what metrics call routes: few, whatever the repositories are called.
func Classes() []string {
	return []string{
		"access-tokens", "app", "app-manifests", "check-runs", "check-suites", "collaborators", "comments", "commits", "compare",
		"deliveries", "files", "git", "graphql", "installation", "installations", "other", "pulls", "reactions", "repository",
		"sarifs", "user",
	}
}

// classOf names the route of a path below the root of the API: by its last word that is
// one, so that /repos/O/R/pulls/7/files is "files".
func classOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	words := parts
	if parts[0] == "repos" || parts[0] == "repositories" {
		words = parts[min(len(parts), 3):] // what comes before is a name
		if parts[0] == "repositories" {
			words = parts[min(len(parts), 2):]
		}
		if len(words) == 0 {
			return "repository"
		}
	}
	known := strings.ReplaceAll(" "+strings.Join(Classes(), " ")+" ", "access-tokens", "access_tokens")
	for _, word := range slices.Backward(words) {
		if word != "" && strings.Contains(known, " "+word+" ") {
			return strings.ReplaceAll(word, "_", "-")
		}
	}
	return "other"
}
