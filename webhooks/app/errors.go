package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v62/github"
)

var (
	// ErrCredentials is wrapped by errors that only other credentials fix.
	ErrCredentials = errors.New("GitHub does not take the App's credentials")
	// ErrGone is wrapped when an installation or a repository no longer exists, or is not
	// accessible to the App.
	ErrGone = errors.New("the App has no access")
	// ErrSuspended is wrapped when an installation is suspended.
	ErrSuspended = errors.New("the installation is suspended")
)

// KeyError means that a value of the service's configuration is invalid.
type KeyError struct {
	// Key is the key of the configuration, like app.privateKeyFile.
	Key string
	// Problem is what is wrong with the value, and what to do.
	Problem string
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Problem }

// refusal is GitHub's error response, without secrets.
type refusal struct {
	status  int
	message string
}

// refused returns the error response in an error of either library.
func refused(err error) (refusal, bool) {
	var token *ghinstallation.HTTPError
	var answer *github.ErrorResponse
	switch {
	case errors.As(err, &answer) && answer.Response != nil:
		return refusal{answer.Response.StatusCode, answer.Message}, true
	case errors.As(err, &token) && token.Response != nil && token.RootCause == nil:
		return refusal{token.Response.StatusCode, messageOf(token.Response)}, true
	}
	return refusal{}, false
}

// messageOf returns the message of a response that the meter has read.
func messageOf(resp *http.Response) string {
	kept, ok := resp.Body.(*readBody)
	var body struct{ Message string }
	if !ok || json.Unmarshal(kept.text, &body) != nil {
		return http.StatusText(resp.StatusCode)
	}
	return body.Message
}

// explain wraps err with what was being done, GitHub's response and what to do about it.
func (a *App) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	r, ok := refused(err)
	if !ok {
		return fmt.Errorf("%s: %w", doing, a.clean(err))
	}
	said := fmt.Sprintf("%s: GitHub answers %d %s", doing, r.status, line(a.redact(r.message)))
	switch {
	case r.status == http.StatusUnauthorized,
		r.status == http.StatusNotFound && strings.Contains(r.message, "Integration not found"):
		return &finalError{fmt.Sprintf("%s: %s and %s must be the ID and a private key of one App at %s; make a new key on its settings page if in doubt",
			said, KeyID, KeyPrivateKey, a.web), ErrCredentials}
	case r.status == http.StatusForbidden && strings.Contains(strings.ToLower(r.message), "suspended"):
		return &finalError{said, ErrSuspended}
	case r.status == http.StatusNotFound, r.status == http.StatusGone,
		r.status == http.StatusUnprocessableEntity && strings.Contains(r.message, "repository"):
		return &finalError{said, ErrGone}
	}
	return &answerError{said, a.clean(err)}
}

// answerError has a text without secrets, and wraps the original error.
type answerError struct {
	said string
	err  error
}

func (e *answerError) Error() string { return e.said }
func (e *answerError) Unwrap() error { return e.err }

// finalError is an error that a retry cannot fix.
type finalError struct {
	said string
	kind error
}

func (e *finalError) Error() string { return e.said + ": " + e.kind.Error() }
func (e *finalError) Unwrap() error { return e.kind }

// Permanent tells package retry not to retry.
func (e *finalError) Permanent() bool { return true }

// line returns a text of GitHub on one line of bounded length.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 300 {
		s = string(runes[:300]) + "..."
	}
	return s
}
