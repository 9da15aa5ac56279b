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

// maxRefusal limits how much of an error response is read.
const maxRefusal = 1 << 20

// meter counts requests and the remainder of the rate limit. It removes secrets from error
// responses, since these become part of errors.
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

// remaining records how many requests are left in the hour: the installation's, or the App's own for
// requests as the App.
func (m *meter) remaining(class string, resp *http.Response) {
	installation := m.installation
	if class == "access-tokens" {
		installation = 0
	}
	if left, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining")); err == nil && left >= 0 {
		m.app.metrics.Remaining(installation, left)
	}
}

// cleaned reads the body of a response, and replaces it by one without secrets.
func (a *App) cleaned(resp *http.Response) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }() // it has been read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return nil, errors.New("read the answer: " + a.redact(err.Error()))
	}
	text = []byte(a.redact(string(text)))
	resp.Body, resp.ContentLength = &readBody{bytes.NewReader(text), text}, int64(len(text))
	resp.Header.Del("Content-Length")
	return text, nil
}

// readBody is the body of an error response, which may be read more than once.
type readBody struct {
	*bytes.Reader
	text []byte
}

func (*readBody) Close() error { return nil }

// Outcomes of requests for a token, as metrics name them.
const (
	tokenGranted  = "granted"
	tokenNarrowed = "narrowed" // to fewer permissions, since the installation grants no more
	tokenRefused  = "refused"
	tokenFailed   = "failed" // no response, or a server error
)

// tokenMeter counts the requests for tokens. A token that is received has the outcome counts.
type tokenMeter struct {
	app    *App
	counts string
	next   http.RoundTripper
}

// RoundTrip sends a request, and counts it if it is for a token.
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

// classOf returns the class of a request's route.
func (a *App) classOf(req *http.Request) string {
	return classOf(strings.TrimPrefix(req.URL.Path, a.base.Path))
}

// isAPI reports whether a URL is of GitHub's API. Only the API receives tokens.
func (a *App) isAPI(u *url.URL) bool { return u.Scheme == a.base.Scheme && u.Host == a.base.Host }

// Classes returns the classes of routes for metrics: few, independent of repository names.
func Classes() []string {
	return []string{
		"access-tokens", "app", "app-manifests", "check-runs", "check-suites", "collaborators", "comments", "commits", "compare",
		"deliveries", "files", "git", "graphql", "installation", "installations", "other", "pulls", "reactions", "repository",
		"sarifs", "user",
	}
}

// classOf returns the class of a path below the root of the API: its last word that is a class,
// so that /repos/O/R/pulls/7/files is "files".
func classOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	words := parts
	if parts[0] == "repos" || parts[0] == "repositories" {
		words = parts[min(len(parts), 3):] // the rest is a name or an ID
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
