package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
	"github.com/preadmit/preadmit/internal/gittest"
)

// Config describes the first repository and the clients.
type Config struct {
	// Owner and Repo name the repository; "octo" and "shop" when empty.
	Owner, Repo string
	// Login is the owner of the token, "github-actions[bot]" when empty. A name that
	// ends in [bot] is an app, for which GET /user is forbidden.
	Login string
	// Token is the token of requests without one of an App or user. When it is empty and there
	// is no App, any token is accepted.
	Token string
	// ReadOnly rejects writes, like the token of a pull request from a fork.
	ReadOnly bool
	// NoCodeScanning rejects SARIF like a repository without code scanning.
	NoCodeScanning bool
	// PageSize is the maximum size of pages of lists, 100 when 0.
	PageSize int
	// OldestFirst lists check runs in reverse order: GitHub guarantees no order.
	OldestFirst bool
	// TokenLife is how long installation tokens are valid, an hour when 0.
	TokenLife time.Duration
	// HookTimeout is the timeout of webhooks, 10 seconds when 0.
	HookTimeout time.Duration
	// Now returns the time for tokens and deliveries; time.Now when nil.
	Now func() time.Time
}

// Server is a running server. Its methods may be called while it serves.
type Server struct {
	// URL is the root of the API, for the base URL of a client. The same API is below
	// URL + "api/v3/", as on GitHub Enterprise Server.
	URL string
	// WebURL is the root of web pages and of git, without a slash at the end.
	WebURL string

	config Config
	http   *httptest.Server
	spec   *openapi.Description
	table  map[string]operation
	git    http.Handler
	dir    string // of the git repositories
	hooks  *dispatcher

	mu       sync.Mutex
	lastID   int64 // of check runs and comments
	lastName int64 // of everything else
	runs     []*CheckRun
	comments []*Comment
	files    []File
	sarifs   []SARIF
	log      []Request
	problems []string
	rules    []*rule

	first     *repository
	repos     []*repository
	accounts  map[string]int64
	apps      []*App
	installed []*installation
	tokens    map[string]*caller
	codes     map[string]*code
	viewer    string
}

// Request is a request that the server received.
type Request struct {
	Method, Path, Query string
	// Status is that of the response.
	Status int
	Body   []byte
	// Header is the header of the request.
	Header http.Header
	// By is the login of the caller, or "" if it is unknown.
	By string
}

// Writes reports whether a request changes something visible: requests of git and those for a token
// do not.
func (r Request) Writes() bool {
	return r.Method != http.MethodGet && r.Path != "/graphql" && !strings.Contains(r.Path, ".git/") && !strings.HasSuffix(r.Path, "/access_tokens")
}

// New starts a server with pull request 7 and nothing else. Call Close to stop it.
func New(config Config) (*Server, error) {
	const doing = "start a GitHub for tests: %w"
	spec, err := openapi.Load()
	if err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	config.Owner, config.Repo = cmp.Or(config.Owner, "octo"), cmp.Or(config.Repo, "shop")
	config.Login = cmp.Or(config.Login, "github-actions[bot]")
	config.PageSize = cmp.Or(config.PageSize, 100)
	config.TokenLife = cmp.Or(config.TokenLife, time.Hour)
	config.HookTimeout = cmp.Or(config.HookTimeout, 10*time.Second)
	if config.Now == nil {
		config.Now = time.Now
	}
	dir, err := os.MkdirTemp("", "githubtest-")
	if err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	git, err := gittest.Backend(dir)
	if err != nil {
		return nil, fmt.Errorf(doing, err)
	}
	s := &Server{
		config: config, spec: spec, table: operations(), git: git, dir: dir, lastID: 1000, lastName: 9000,
		accounts: map[string]int64{}, tokens: map[string]*caller{}, codes: map[string]*code{},
	}
	s.first = s.newRepository(RepositoryOptions{Owner: config.Owner, Name: config.Repo})
	s.first.pulls = []*pull{{number: 7, state: "open", title: "A change", author: "octocat"}}
	s.hooks = newDispatcher(s)
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.WebURL, s.URL = s.http.URL, s.http.URL+"/"
	return s, nil
}

// Close stops the server and removes the git repositories.
func (s *Server) Close() {
	s.hooks.close()
	s.http.Close()
	_ = os.RemoveAll(s.dir) // on an error files stay in the directory for temporary files
}

// Set changes the configuration while the server runs.
func (s *Server) Set(change func(*Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.config)
}

// AddPull adds a pull request to the first repository.
func (s *Server) AddPull(number int) {
	s.locked(func() {
		s.first.pulls = append(s.first.pulls, &pull{number: number, state: "open", title: "A change", author: "octocat"})
	})
}

// RemovePull removes a pull request of the first repository.
func (s *Server) RemovePull(number int) { s.locked(func() { s.first.removePull(number) }) }

func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// name returns a new number.
func (s *Server) name() int64 {
	s.lastName++
	return s.lastName
}

// Requests returns all requests, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// Forget empties the list of requests.
func (s *Server) Forget() { s.locked(func() { s.log = nil }) }

// Problems returns the requests that violate GitHub's description or limits, and responses of
// this server that violate the description.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}
