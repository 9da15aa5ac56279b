package pages

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// problem is an error that is shown to the viewer as a page.
type problem struct {
	Status      int
	Title, Text string
	// Hint is what the viewer can do about it.
	Hint string
	// Login is the URL to log in at, if that helps.
	Login string
	// cause is the error for the log.
	cause error
}

func (e *problem) Error() string { return e.Title + ": " + e.Text }

func (e *problem) Unwrap() error { return e.cause }

// notThere returns the error for what does not exist, and for what the viewer may not see.
func notThere() error {
	return &problem{Status: http.StatusNotFound, Title: "There is nothing here",
		Text: "It does not exist, is no longer kept, or is of a repository that you may not read.",
		Hint: "Scans are kept for a limited time. If you were given access on GitHub just now, try again in a minute."}
}

// handler writes a page, or returns an error.
type handler func(w http.ResponseWriter, r *http.Request, v *viewer) error

// page calls a handler with the authenticated viewer, and shows its error.
func (p *Pages) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := p.admit(r)
		if err == nil {
			err = h(w, r, v)
		}
		if errors.Is(err, errLogin) {
			p.dropCookie(w, sessionCookie)
			err = loginNeeded(r)
		}
		if err != nil {
			p.showError(w, r, v, err)
		}
	}
}

// open is page for handlers that need no viewer.
func (p *Pages) open(h func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			p.showError(w, r, nil, err)
		}
	}
}

func (p *Pages) showError(w http.ResponseWriter, r *http.Request, v *viewer, err error) {
	e := problemOf(err)
	if e.Status >= http.StatusInternalServerError && r.Context().Err() == nil {
		p.config.Log.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "error", err)
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `GitHub realm="preadmit"`)
	}
	p.write(w, e.Status, v, frame{Title: e.Title, Heading: e.Title}, "problem", e)
}

// problemOf returns the problem that a viewer is shown for an error. It contains none of the
// error's text, unless that is meant for viewers.
func problemOf(err error) *problem {
	var e *problem
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, queue.ErrNotFound):
		return problemOf(notThere())
	case errors.Is(err, errGitHub), errors.Is(err, context.DeadlineExceeded):
		return &problem{Status: http.StatusServiceUnavailable, Title: "GitHub does not answer",
			Text: "Your access could not be checked with GitHub.", Hint: "Try again in a minute."}
	}
	return &problem{Status: http.StatusInternalServerError, Title: "Something went wrong",
		Text: "The page could not be rendered. The reason is in the log of the service.", Hint: "Try again; if it stays, ask who runs the service."}
}

// nothing returns the handler for unknown paths and methods.
func (p *Pages) nothing(status int) http.HandlerFunc {
	page := p.protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := notThere()
		if status != http.StatusNotFound {
			err = &problem{Status: status, Title: "This cannot be done here", Text: "The address exists, but not for this kind of request.",
				Hint: "Go back and use the links and buttons of the page."}
		}
		v, _ := p.admit(r) // the page is the same for everybody
		p.showError(w, r, v, err)
	}))
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			writeProblem(w, &apiProblem{Status: status, Detail: "See /api/v1/openapi.json for what there is."})
			return
		}
		page.ServeHTTP(w, r)
	}
}
