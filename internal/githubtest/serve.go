package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

// answer is the response of a handler.
type answer struct {
	status int
	body   any
	header http.Header
	// expected is set if an error is no mistake of the client, since it has no other way to find out.
	expected bool
}

// serve handles a request of git, of a web page, or of the API.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, ".git/"):
		s.serveGit(w, r)
		return
	case isPage(r.URL.Path):
		s.servePage(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api"); ok {
		r.URL.Path, r.URL.RawPath = strings.TrimPrefix(rest, "/v3"), ""
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	a, delay := s.decide(r, body)
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
		}
	}
	s.write(w, a)
}

func (s *Server) write(w http.ResponseWriter, a answer) {
	text := []byte{}
	if a.body != nil {
		var err error
		if text, err = json.Marshal(a.body); err != nil {
			s.locked(func() { s.problems = append(s.problems, err.Error()) })
		}
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	s.locked(func() { w.Header().Set("Date", s.config.Now().UTC().Format(http.TimeFormat)) })
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(text) // the client may have disconnected
}

// decide handles a request, records it, and checks the request and the response.
func (s *Server) decide(r *http.Request, body []byte) (answer, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rule := s.match(r)
	var a answer
	problem := ""
	who, refusal := s.caller(r)
	if rule == nil || rule.After || rule.Status == 0 {
		if a = refusal; who != nil {
			a, problem = s.handle(r, body, who)
		}
	}
	if rule != nil && rule.Status != 0 {
		a = rule.answer()
	}
	if problem != "" {
		s.problems = append(s.problems, r.Method+" "+r.URL.Path+": "+problem)
	}
	by := ""
	if who != nil {
		by = who.login
	}
	s.log = append(s.log, Request{r.Method, r.URL.Path, r.URL.RawQuery, a.status, body, r.Header.Clone(), by})
	if rule != nil {
		return a, rule.Delay
	}
	return a, 0
}

// handle responds as GitHub does. problem describes the client's mistake, or the server's.
func (s *Server) handle(r *http.Request, body []byte, who *caller) (a answer, problem string) {
	spent, header := s.count(who)
	if spent {
		a = message(http.StatusForbidden, fmt.Sprintf("API rate limit exceeded for installation ID %d.", who.installation.id))
		a.header = header
		return a, ""
	}
	if r.URL.Path == "/graphql" {
		return s.graphql(r, body, who)
	}
	input, err := s.spec.Request(r, body)
	if err != nil {
		return message(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error()), err.Error()
	}
	q := &query{r: r, body: body, who: who, params: openapi.Params(input)}
	a = s.route(input.Route.Method+" "+input.Route.Path, q)
	if a.status == http.StatusUnprocessableEntity && !a.expected {
		problem = fmt.Sprint(a.body)
	}
	if a.body, err = s.spec.Complete(input.Route, a.status, a.body); err == nil {
		err = s.spec.Response(input, a.status, a.body)
	}
	if err != nil {
		problem = "the server's own answer: " + err.Error()
	}
	for name, values := range header {
		if a.header == nil {
			a.header = http.Header{}
		}
		a.header[name] = values
	}
	return a, problem
}

func message(status int, text string) answer {
	return answer{status: status, body: map[string]any{
		"message": text, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

func notFound() answer { return message(http.StatusNotFound, "Not Found") }

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

// page returns the requested part of a list, with a Link header.
func page[T any](s *Server, r *http.Request, list []T) ([]T, http.Header) {
	number := func(name string, fallback int) int {
		if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && n > 0 {
			return n
		}
		return fallback
	}
	size, at := min(number("per_page", 30), s.config.PageSize), number("page", 1)
	from := min(len(list), (at-1)*size)
	to := min(len(list), from+size)
	header := http.Header{}
	if to < len(list) {
		header.Set("Link", s.next(r, "page", strconv.Itoa(at+1)))
	}
	return list[from:to], header
}

// next returns a Link header to the next page, which is identified by one query parameter.
func (s *Server) next(r *http.Request, name, value string) string {
	next := *r.URL
	query := next.Query()
	query.Set(name, value)
	next.RawQuery = query.Encode()
	return fmt.Sprintf(`<%s%s>; rel="next"`, strings.TrimSuffix(s.URL, "/"), next.RequestURI())
}

// listed returns a page of a list as an answer. With a name, the list is that field of an object
// that also has the total.
func listed(s *Server, r *http.Request, name string, list []any) answer {
	part, header := page(s, r, list)
	part = append([]any{}, part...) // [], not null
	if name == "" {
		return answer{status: http.StatusOK, body: part, header: header}
	}
	return answer{status: http.StatusOK, body: map[string]any{"total_count": len(list), name: part}, header: header}
}

// Wrote returns the requests for changes, in order, each as method, path inside the
// repository, and status: "POST check-runs 201".
func (s *Server) Wrote() []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Writes() {
			path := strings.TrimPrefix(r.Path, "/repos/"+s.config.Owner+"/"+s.config.Repo+"/")
			out = append(out, fmt.Sprintf("%s %s %d", r.Method, path, r.Status))
		}
	}
	return out
}
