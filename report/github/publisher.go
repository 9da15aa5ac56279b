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

// DefaultName is the default name of the check run. The name also identifies the comment.
const DefaultName = "preadmit"

// Options configures a Publisher. The zero value uses github.com without a token.
type Options struct {
	// Client sends the requests; nil means http.DefaultTransport. Its transport may
	// authenticate, as that of a GitHub App does. Its timeout is not used, see Timeout.
	Client *http.Client
	// Token is sent to the host of BaseURL, and to no other, when it is not empty.
	Token string
	// BaseURL is the root of the API: DefaultBaseURL when empty,
	// https://HOST/api/v3/ on GitHub Enterprise Server.
	BaseURL string
	// Name is the name of the check run, DefaultName when empty. Jobs of the same commit
	// that judge different things need different names.
	Name string
	// Login is the account that the token acts as: "github-actions[bot]" for the token of
	// a workflow, "SLUG[bot]" for an app. If empty, it is requested from GitHub.
	Login string
	// Fresh makes Start create a new check run even if one is complete, as GitHub's
	// "Re-run" button requires.
	Fresh bool
	// Doubt reports whether a completed check run that does not block a merge may be about
	// something else, given its DetailsURL. Start then creates a new one. Nil means never.
	Doubt func(ctx context.Context, detailsURL string) (bool, error)
	// Rescan is the identifier of the button "Scan again" of completed check runs, at most
	// 20 characters. GitHub sends it to webhooks with check_run.requested_action. Empty
	// means no button.
	Rescan string
	// Tries bounds how often one request is sent, 5 when 0.
	Tries int
	// Timeout bounds one request and its response, 30 seconds when 0.
	Timeout time.Duration
	// MaxWait is the longest wait for a rate limit, 5 minutes when 0. A limit that
	// lasts longer, or past the context's deadline, is an error of KindLimited at once.
	MaxWait time.Duration
	// Clock is the system clock when nil.
	Clock Clock
}

// Clock returns the time and waits.
type Clock = retry.Clock

// Publisher publishes for one commit and its pull request. It is not safe for concurrent use.
type Publisher struct {
	target Target
	opts   Options
	api    *github.Client
	wait   *retry.Transport

	known   *github.CheckRun // the run found or created last
	queried bool             // known is current, even if nil: GitHub was queried
	sarif   string           // digest of the SARIF file that code scanning has
	self    string           // the login that the token acts as, "" until known
}

// New returns a publisher. It sends no requests. It returns an error if target or options
// are invalid.
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

// baseURL parses the root URL of the API. The result ends in a slash.
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
