// Package githubtest is a GitHub for tests: a server on the loopback interface that
// keeps check runs, comments, files and SARIF uploads of one repository, enforces
// GitHub's limits, and holds every request and every answer of its own against GitHub's
// OpenAPI description. Tests script failures with Intercept.
//
// What it enforces beyond the description is what GitHub is known to answer: sizes in
// bytes, 64 KB of annotations, columns within a line, check runs of other apps.
package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Config describes the repository and who asks.
type Config struct {
	// Owner and Repo name the repository; "octo" and "shop" when empty.
	Owner, Repo string
	// Login is who the token belongs to, "github-actions[bot]" when empty. A name that
	// ends in [bot] is an app, which may not ask for its user.
	Login string
	// Token is what requests must carry; any when empty.
	Token string
	// ReadOnly refuses to write, as the token of a pull request from a fork does.
	ReadOnly bool
	// NoCodeScanning refuses SARIF as a repository without it does.
	NoCodeScanning bool
	// PageSize bounds the pages of lists below what is asked for, 100 when 0.
	PageSize int
	// OldestFirst lists check runs the other way round: GitHub promises no order.
	OldestFirst bool
}

// Server is a running server. Its methods may be called while it serves.
type Server struct {
	// URL is the root of the API, for the base URL of a client.
	URL string

	config Config
	http   *httptest.Server
	spec   *spec

	mu       sync.Mutex
	lastID   int64
	runs     []*CheckRun
	comments []*Comment
	files    []File
	sarifs   []SARIF
	pulls    map[int]bool
	log      []Request
	problems []string
	rules    []*rule
}

// Request is one that was asked.
type Request struct {
	Method, Path, Query string
	// Status is that of the answer.
	Status int
	Body   []byte
	// Header is what the client sent.
	Header http.Header
}

// Writes tells whether a request asks for a change.
func (r Request) Writes() bool { return r.Method != http.MethodGet && r.Path != "/graphql" }

// New starts a server with pull request 7 and nothing else. Close ends it.
func New(config Config) (*Server, error) {
	spec, err := loadSpec()
	if err != nil {
		return nil, fmt.Errorf("start a GitHub for tests: %w", err)
	}
	if config.Owner == "" {
		config.Owner = "octo"
	}
	if config.Repo == "" {
		config.Repo = "shop"
	}
	if config.Login == "" {
		config.Login = "github-actions[bot]"
	}
	if config.PageSize == 0 {
		config.PageSize = 100
	}
	s := &Server{config: config, spec: spec, pulls: map[int]bool{7: true}, lastID: 1000}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/"
	return s, nil
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Set changes the configuration while the server runs.
func (s *Server) Set(change func(*Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.config)
}

// AddPull makes a pull request known, RemovePull forgets one.
func (s *Server) AddPull(number int) { s.locked(func() { s.pulls[number] = true }) }

// RemovePull makes a pull request vanish.
func (s *Server) RemovePull(number int) { s.locked(func() { delete(s.pulls, number) }) }

func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Requests are all that came, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// Forget empties the list of requests.
func (s *Server) Forget() { s.locked(func() { s.log = nil }) }

// Problems are requests that do not fit GitHub's description or limits, and answers of
// this server that do not fit the description.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// answer is what a handler gives.
type answer struct {
	status int
	body   any
	header http.Header
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	a, delay := s.decide(r, body)
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
		}
	}
	text := []byte{}
	if a.body != nil {
		if text, err = json.Marshal(a.body); err != nil {
			s.locked(func() { s.problems = append(s.problems, err.Error()) })
		}
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(text) // a client that went away is no concern of the server
}

// decide answers a request, keeps it, and checks both.
func (s *Server) decide(r *http.Request, body []byte) (answer, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rule := s.match(r)
	var a answer
	problem := ""
	if rule == nil || rule.After || rule.Status == 0 {
		a, problem = s.handle(r, body)
	}
	if rule != nil && rule.Status != 0 {
		a = rule.answer()
	}
	if problem != "" {
		s.problems = append(s.problems, r.Method+" "+r.URL.Path+": "+problem)
	}
	s.log = append(s.log, Request{r.Method, r.URL.Path, r.URL.RawQuery, a.status, body, r.Header.Clone()})
	if rule != nil {
		return a, rule.Delay
	}
	return a, 0
}

// handle answers as GitHub does. The problem is the client's mistake, if it made one.
func (s *Server) handle(r *http.Request, body []byte) (a answer, problem string) {
	if s.config.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.config.Token {
		return message(http.StatusUnauthorized, "Bad credentials"), ""
	}
	if r.URL.Path == "/graphql" {
		return s.graphql(r, body)
	}
	input, err := s.spec.request(r, body)
	if err != nil {
		return message(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error()), err.Error()
	}
	a = s.route(r, body)
	if a.status == http.StatusUnprocessableEntity {
		problem = fmt.Sprint(a.body)
	}
	if err := s.spec.response(input, a); err != nil {
		problem = "the server's own answer: " + err.Error()
	}
	return a, problem
}

// route finds the handler of a path that fits the description.
func (s *Server) route(r *http.Request, body []byte) answer {
	if r.URL.Path == "/user" {
		return s.user()
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/repos/"+s.config.Owner+"/"+s.config.Repo+"/")
	if !ok {
		return message(http.StatusNotFound, "Not Found")
	}
	if r.Method != http.MethodGet && s.config.ReadOnly {
		return message(http.StatusForbidden, "Resource not accessible by integration")
	}
	part := strings.Split(rest, "/")
	id := func(i int) int64 {
		n, _ := strconv.ParseInt(part[i], 10, 64) // 0, which nothing has, when it is none
		return n
	}
	switch part[0] + " " + strconv.Itoa(len(part)) {
	case "check-runs 1":
		return s.createRun(body)
	case "check-runs 2":
		return s.run(r, id(1), body)
	case "check-runs 3":
		return s.annotations(r, id(1))
	case "commits 3":
		return s.listRuns(r, part[1])
	case "pulls 3":
		return s.listFiles(r, int(id(1)))
	case "issues 3":
		if part[1] == "comments" {
			return s.editComment(r, id(2), body)
		}
		return s.commentsOf(r, int(id(1)), body)
	case "code-scanning 2":
		return s.uploadSARIF(body)
	}
	return message(http.StatusNotFound, "Not Found")
}

func message(status int, text string) answer {
	return answer{status: status, body: map[string]any{
		"message": text, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status),
	}}
}

// page gives the part of a list that was asked for, with a Link header.
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
		next := *r.URL
		query := next.Query()
		query.Set("page", strconv.Itoa(at+1))
		next.RawQuery = query.Encode()
		header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, strings.TrimSuffix(s.URL, "/"), next.RequestURI()))
	}
	return list[from:to], header
}
