package pages

import (
	_ "embed" // openapi.json
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// openAPI describes the API. Tests check requests and responses against it.
//
//go:embed openapi.json
var openAPI []byte

// apiRoutes adds the API.
func (p *Pages) apiRoutes(r chi.Router) {
	r.Get("/api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		p.send(w, http.StatusOK, "application/json", openAPI)
	})
	r.Post("/api/v1/scans", p.api(p.apiStart))
	r.Get("/api/v1/scans/{id}", p.api(p.apiScan))
	r.Get("/api/v1/scans/{id}/report", p.api(p.apiReport))
}

// apiProblem is an error response of the API, in the format of RFC 9457.
type apiProblem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Errors are the invalid fields of a request.
	Errors []fieldError `json:"errors,omitempty"`
	// after is sent as Retry-After, rounded up to seconds; 0 sends none.
	after time.Duration
}

type fieldError struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (e *apiProblem) Error() string { return e.Title + ": " + e.Detail }

// retryAfter is sent while the service cannot process a request.
const retryAfter = 10 * time.Second

// apiHandler handles a request of the API that has a valid token.
type apiHandler func(w http.ResponseWriter, r *http.Request, t *Token) error

// api requires a valid token before it calls h.
func (p *Pages) api(h apiHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		t := p.bearer(r)
		if t == nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="preadmit"`)
			writeProblem(w, &apiProblem{Status: http.StatusUnauthorized,
				Detail: "Send Authorization: Bearer with a token whose hash is in api.tokens of the service's configuration."})
			return
		}
		if err := h(w, r, t); err != nil {
			p.apiError(w, r, err)
		}
	}
}

func (p *Pages) apiError(w http.ResponseWriter, r *http.Request, err error) {
	var e *apiProblem
	switch {
	case errors.As(err, &e):
	case errors.Is(err, queue.ErrNotFound):
		e = &apiProblem{Status: http.StatusNotFound, Detail: "There is no such scan, it is no longer kept, or the token is not for its repository."}
	default:
		p.config.Log.ErrorContext(r.Context(), "an API request failed", "route", r.Pattern, "error", err)
		e = &apiProblem{Status: http.StatusServiceUnavailable, after: retryAfter,
			Detail: "The request could not be accepted now. Send it again; the reason is in the log of the service."}
	}
	writeProblem(w, e)
}

func writeProblem(w http.ResponseWriter, e *apiProblem) {
	e.Type, e.Title = "about:blank", http.StatusText(e.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	if e.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.after.Seconds()))))
	}
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e) // strings and numbers only; a closed connection is no error
}

// answer writes value as JSON.
func (p *Pages) answer(w http.ResponseWriter, status int, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	p.send(w, status, "application/json", append(text, '\n'))
	return nil
}
