package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/github/retry"
)

// Kind classifies an Error by what a caller can do about it.
type Kind string

const (
	// KindUnauthorized: there is no token, or it is not valid.
	KindUnauthorized Kind = "unauthorized"
	// KindForbidden: the token lacks a permission, as the token of a pull request from a fork does.
	KindForbidden Kind = "forbidden"
	// KindNotEnabled: the repository does not have code scanning.
	KindNotEnabled Kind = "not enabled"
	// KindLocked: the conversation is locked, or the repository is archived.
	KindLocked Kind = "locked"
	// KindMissing: the repository, commit or pull request does not exist, or is hidden.
	KindMissing Kind = "missing"
	// KindRejected: GitHub does not accept the request. This is a bug in preadmit.
	KindRejected Kind = "rejected"
	// KindTooLarge: the content is larger than GitHub accepts.
	KindTooLarge Kind = "too large"
	// KindLimited: a rate limit lasts longer than the allowed wait; see Error.Until.
	KindLimited Kind = "limited"
	// KindUnavailable: there is no response, or a server error, also after retries.
	KindUnavailable Kind = "unavailable"
)

// Error describes a request that failed.
type Error struct {
	// Doing is the purpose of the request, like "create the check run".
	Doing string
	// Method and Path are those of the request. The path has no query.
	Method, Path string
	// Status is the HTTP status of the response, 0 when there was none.
	Status int
	// Message is GitHub's message, in one line.
	Message string
	Kind    Kind
	// Until is when a rate limit ends; zero if that is not known.
	Until time.Time
	// Permission is the permission that the token needs, like "checks: write".
	Permission string
	// Err is the cause when there was no response.
	Err error
}

func (e *Error) Error() string {
	parts := []string{e.Doing, e.Method + " " + e.Path}
	switch {
	case e.Status > 0:
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, e.Message)))
	case e.Err != nil:
		parts = append(parts, escape.Line(e.Err.Error()))
	}
	if advice := e.advice(); advice != "" {
		parts = append(parts, advice)
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause when there was no response.
func (e *Error) Unwrap() error { return e.Err }

// Degrades reports whether the token or the repository does not allow the request. A
// caller should then go on without it and mention that, instead of failing.
func (e *Error) Degrades() bool {
	switch e.Kind {
	case KindUnauthorized, KindForbidden, KindNotEnabled, KindLocked, KindMissing, KindTooLarge:
		return true
	}
	return false
}

func (e *Error) advice() string {
	switch e.Kind {
	case KindUnauthorized:
		return "give a valid token"
	case KindForbidden:
		return "the token needs the permission " + e.Permission + "; that of a pull request from a fork never has it"
	case KindNotEnabled:
		return "enable code scanning in the repository's settings, or do not upload SARIF"
	case KindLocked:
		return "unlock the conversation or repository"
	case KindMissing:
		return "it is gone, or the token may not see it (" + e.Permission + ")"
	case KindLimited:
		if !e.Until.IsZero() {
			return "try again after " + e.Until.UTC().Format(time.RFC3339)
		}
		return "try again later"
	case KindUnavailable:
		return "try again later"
	}
	return ""
}

// attempt describes a request for its errors: its purpose and the permission it needs.
type attempt struct {
	doing, permission string
}

// fail returns an *Error for an error of go-github, and nil for nil.
func (a attempt) fail(err error) error {
	if err == nil {
		return nil
	}
	out := &Error{Doing: a.doing, Permission: a.permission, Kind: KindUnavailable}
	resp, message := answer(err)
	if resp == nil {
		out.Method, out.Path, out.Err = unanswered(err)
		return out
	}
	out.Status, out.Message = resp.StatusCode, clip(escape.Line(message), 500)
	if resp.Request != nil {
		out.Method, out.Path = resp.Request.Method, resp.Request.URL.Path
	}
	out.Kind = kindOf(resp.StatusCode, message)
	if until := resp.Header.Get(retry.LimitedHeader); until != "" {
		out.Kind = KindLimited
		out.Until, _ = time.Parse(time.RFC3339, until) // zero when the end is not known
	}
	return out
}

// answer returns the response of a go-github error, nil if it has none, and GitHub's message.
func answer(err error) (*http.Response, string) {
	var refused *github.ErrorResponse
	var abuse *github.AbuseRateLimitError
	var limit *github.RateLimitError
	var factor *github.TwoFactorAuthError
	switch {
	case errors.As(err, &refused):
		return refused.Response, strings.Join(append([]string{refused.Message}, details(refused)...), "; ")
	case errors.As(err, &abuse):
		return abuse.Response, abuse.Message
	case errors.As(err, &limit):
		return limit.Response, limit.Message
	case errors.As(err, &factor):
		return factor.Response, factor.Message
	}
	return nil, ""
}

func details(refused *github.ErrorResponse) []string {
	var out []string
	for _, e := range refused.Errors {
		text := e.Message
		if text == "" {
			text = e.Code
		}
		out = append(out, strings.TrimSpace(e.Field+" "+text))
	}
	return out
}

// unanswered returns the parts of an error without a response. It leaves out the query and
// the credentials of the URL.
func unanswered(err error) (method, path string, cause error) {
	var noResponse *retry.Unanswered
	if errors.As(err, &noResponse) {
		return noResponse.Method, noResponse.Path, noResponse.Err
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		if u, parseErr := url.Parse(outer.URL); parseErr == nil {
			path = u.Path
		}
		return strings.ToUpper(outer.Op), path, outer.Err
	}
	return "", "", err
}

func kindOf(status int, message string) Kind {
	text := strings.ToLower(message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusUnauthorized:
		return KindUnauthorized
	case status == http.StatusForbidden && has("advanced security", "code security", "code scanning is not enabled"):
		return KindNotEnabled
	case status == http.StatusForbidden && has("is locked", "archived"):
		return KindLocked
	case status == http.StatusForbidden:
		return KindForbidden
	case status == http.StatusNotFound || status == http.StatusGone ||
		status == http.StatusUnprocessableEntity && has("no commit found"):
		return KindMissing
	case status == http.StatusRequestEntityTooLarge:
		return KindTooLarge
	case status == http.StatusTooManyRequests:
		return KindLimited
	case status >= 500:
		return KindUnavailable
	}
	return KindRejected
}

// unavailable reports whether it is unknown if GitHub carried out the request, and a
// further request may tell.
func unavailable(ctx context.Context, err error) bool {
	var e *Error
	return ctx.Err() == nil && !retry.Permanent(err) && errors.As(err, &e) && e.Kind == KindUnavailable
}
