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
	// ends in [bot] is an app, which may not ask for its user.
	Login string
	// Token is what requests must carry that carry no token of an App or user; any when
	// empty and there is no App.
	Token string
	// ReadOnly refuses to write, as the token of a pull request from a fork does.
	ReadOnly bool
	// NoCodeScanning refuses SARIF as a repository without it does.
	NoCodeScanning bool
	// PageSize bounds the pages of lists below what a request asks for, 100 when 0.
	PageSize int
	// OldestFirst lists check runs the other way round: GitHub promises no order.
	OldestFirst bool
	// TokenLife is how long installation tokens are valid, an hour when 0.
	TokenLife time.Duration
	// HookTimeout is how long the answer to a webhook is waited for, 10 seconds when 0.
	HookTimeout time.Duration
	// Now is the time of tokens and deliveries; time.Now when nil.
	Now func() time.Time
}

// Server is a running server. Its methods may be called while it serves.
type Server struct {
	// URL is the root of the API, for the base URL of a client. The same API is below
	// URL + "api/v3/", as on GitHub Enterprise Server.
	URL string
	// WebURL is the root of pages and of git, without a slash at the end.
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

// Request is one that was asked.
type Request struct {
	Method, Path, Query string
	// Status is that of the answer.
	Status int
	Body   []byte
	// Header is what the client sent.
	Header http.Header
	// By is the caller: a login, or "" for nobody that is known.
	By string
}

// Writes reports whether a request asks for a change of what people see: git's questions
// and those for a token do not.
func (r Request) Writes() bool {
	return r.Method != http.MethodGet && r.Path != "/graphql" && !strings.Contains(r.Path, ".git/") && !strings.HasSuffix(r.Path, "/access_tokens")
}

// New starts a server with pull request 7 and nothing else. Close ends it.
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

// Close ends the server and removes the git repositories.
func (s *Server) Close() {
	s.hooks.close()
	s.http.Close()
	_ = os.RemoveAll(s.dir) // what is left of it is in the directory for temporary files
}

// Set changes the configuration while the server runs.
func (s *Server) Set(change func(*Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.config)
}

// AddPull makes a pull request of the first repository known, RemovePull forgets one.
func (s *Server) AddPull(number int) {
	s.locked(func() {
		s.first.pulls = append(s.first.pulls, &pull{number: number, state: "open", title: "A change", author: "octocat"})
	})
}

// RemovePull makes a pull request of the first repository vanish.
func (s *Server) RemovePull(number int) { s.locked(func() { s.first.removePull(number) }) }

func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// name is a number for something that is new.
func (s *Server) name() int64 {
	s.lastName++
	return s.lastName
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
