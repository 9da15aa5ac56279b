package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github/retry"
)

// DefaultBaseURL is the API of github.com.
const DefaultBaseURL = "https://api.github.com/"

// DefaultName is the name of the check run, and marks its comment among others.
const DefaultName = "preadmit"

// Options say how to reach GitHub. The zero value asks github.com without a token.
type Options struct {
	// Client makes the requests; nil means http.DefaultTransport. Its transport may
	// authenticate, as one of a GitHub App does. Its timeout is not used, see Timeout.
	Client *http.Client
	// Token is sent to the host of BaseURL, and to no other, when it is not empty.
	Token string
	// BaseURL is the root of the API: DefaultBaseURL when empty,
	// https://HOST/api/v3/ on GitHub Enterprise Server.
	BaseURL string
	// Name is that of the check run, DefaultName when empty. Jobs of the same commit
	// that judge different things need different names.
	Name string
	// Login is who the token acts as: "github-actions[bot]" for the token of a
	// workflow, "SLUG[bot]" for an app. When it is empty the publisher asks GitHub.
	Login string
	// Fresh has Start make a new check run although one is complete, as the "Re-run"
	// button of GitHub asks for.
	Fresh bool
	// Doubt reports whether a check run that is complete and does not block a merge may be about
	// something else, given its DetailsURL: Start makes a new one then. Nil doubts none.
	Doubt func(ctx context.Context, detailsURL string) (bool, error)
	// Rescan identifies the button "Scan again" of check runs that are complete: whoever
	// answers GitHub's webhooks is sent it with check_run.requested_action. There is no
	// button when it is empty. It has at most 20 characters.
	Rescan string
	// Tries bounds how often one request is sent, 5 when 0.
	Tries int
	// Timeout bounds one request and its answer, 30 seconds when 0.
	Timeout time.Duration
	// MaxWait is the longest wait for a rate limit, 5 minutes when 0. A limit that
	// lasts longer, or past the context's deadline, is an error of KindLimited at once.
	MaxWait time.Duration
	// Clock is the system's when nil.
	Clock Clock
}

// Clock returns the time and waits.
type Clock = retry.Clock

// Publisher writes to one commit and its pull request. It is for one goroutine.
type Publisher struct {
	target Target
	opts   Options
	api    *github.Client
	wait   *retry.Transport

	known *github.CheckRun // the last run seen or made
	asked bool             // known is GitHub's answer, also when nil
	sarif string           // digest of the SARIF file that code scanning has
	self  string           // the login the token acts as, once asked
}

// New makes a publisher. It asks nothing of GitHub; mistakes in target and options
// are errors.
func New(target Target, opts Options) (*Publisher, error) {
	if err := target.check(); err != nil {
		return nil, fmt.Errorf("publish on GitHub: %w", err)
	}
	base, err := baseURL(opts.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("publish on GitHub: %w", err)
	}
	if n := utf8.RuneCountInString(opts.Rescan); n > maxIdentifier {
		return nil, fmt.Errorf("publish on GitHub: the identifier %q of a button has %d characters, and GitHub takes %d", opts.Rescan, n, maxIdentifier)
	}
	opts = withDefaults(opts)
	t := retry.New(authorized(opts, base), opts.patience())
	client := &http.Client{Transport: t}
	if opts.Client != nil {
		client.CheckRedirect, client.Jar = opts.Client.CheckRedirect, opts.Client.Jar
	}
	api := github.NewClient(client)
	api.BaseURL, api.UserAgent = base, "preadmit"
	return &Publisher{target: target, opts: opts, api: api, wait: t, self: opts.Login, sarif: none}, nil
}

func withDefaults(o Options) Options {
	o.Name = cmp.Or(o.Name, DefaultName)
	patience := o.patience().WithDefaults()
	o.Tries, o.Timeout, o.MaxWait, o.Clock = patience.Tries, patience.Timeout, patience.MaxWait, patience.Clock
	return o
}

func (o Options) patience() retry.Options {
	return retry.Options{Tries: o.Tries, Timeout: o.Timeout, MaxWait: o.MaxWait, Clock: o.Clock}
}

// baseURL reads the root of the API, which ends in a slash.
func baseURL(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(cmp.Or(s, DefaultBaseURL), "/") + "/")
	if err != nil {
		return nil, fmt.Errorf("the URL of the API is none: %w", err)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the URL of the API must be like %s or https://HOST/api/v3/", DefaultBaseURL)
	}
	return u, nil
}
