package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/preadmit/preadmit/report/github/retry"
)

// Paths of the service that the App's settings at GitHub contain, below its public URL.
const (
	WebhookPath       = "/webhooks/github"
	SetupCallbackPath = "/setup/callback"
	LoginCallbackPath = "/login/callback"
)

// ActionRescan identifies the button of the App's check runs that requests another scan.
// GitHub sends it with check_run.requested_action.
const ActionRescan = "rescan"

// ManifestOptions are the name of the App and the URLs of the service.
type ManifestOptions struct {
	// Name is the App's name, which must be unused on GitHub; "preadmit" when empty.
	Name string
	// PublicURL is the URL by which GitHub and people reach the service.
	PublicURL string
	// WebhookURL is the URL for deliveries, if it is not below PublicURL: that of a relay to
	// a machine that GitHub cannot reach.
	WebhookURL string
}

// manifest is GitHub's format of a manifest:
// https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	Hook        hookAttributes    `json:"hook_attributes"`
	RedirectURL string            `json:"redirect_url"`
	Callbacks   []string          `json:"callback_urls"`
	SetupURL    string            `json:"setup_url"`
	Description string            `json:"description"`
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

type hookAttributes struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// Manifest returns the manifest from which GitHub creates the App, as JSON. installation and
// installation_repositories are not among the events: every App receives them.
func Manifest(o ManifestOptions) ([]byte, error) {
	root, err := url.Parse(strings.TrimSuffix(o.PublicURL, "/"))
	if err != nil || root.Scheme != "https" && root.Scheme != "http" || root.Host == "" || root.User != nil || root.RawQuery != "" {
		return nil, fmt.Errorf("the public URL %q must be like https://preadmit.example.com", o.PublicURL)
	}
	permissions := map[string]string{
		"merge_queues": "read", // for merge_group
		"issues":       "read", // for issue_comment, which requires it
	}
	for _, p := range scanning() {
		permissions[p.name] = p.level
	}
	below := root.String()
	return json.Marshal(manifest{
		Name: cmp.Or(o.Name, "preadmit"), URL: below,
		Hook:        hookAttributes{cmp.Or(o.WebhookURL, below+WebhookPath), true},
		RedirectURL: below + SetupCallbackPath, Callbacks: []string{below + LoginCallbackPath}, SetupURL: below + "/",
		Description: "Says what the API server will say to a pull request.",
		Permissions: permissions,
		Events:      []string{"check_run", "check_suite", "issue_comment", "merge_group", "pull_request", "push"},
	})
}

// Convert returns the credentials of an App that GitHub has just created from a manifest, for
// the code of the redirect. A code works once, within an hour. The baseURL is the root
// of the API, DefaultBaseURL when empty.
func Convert(ctx context.Context, baseURL, code string) (Credentials, error) {
	base, err := apiURL(baseURL)
	if err != nil {
		return Credentials{}, err
	}
	const doing = "get the credentials of the new App"
	if code == "" || len(code) > 200 || strings.ContainsAny(code, "/?#%") {
		return Credentials{}, fmt.Errorf("%s: this is not a code of GitHub: start again", doing)
	}
	a := &App{base: base, web: base, next: http.DefaultTransport, clock: retry.SystemClock{}}
	c := a.client(a.meter(0))
	ctx, cancel := context.WithTimeout(retry.Once(ctx), time.Minute)
	defer cancel()
	got, _, err := c.Apps.CompleteAppManifest(ctx, code)
	if err != nil {
		// The path of the request contains the code, and errors contain the path.
		return Credentials{}, fmt.Errorf("%s: %s: start again at the setup page", doing, strings.ReplaceAll(a.redact(err.Error()), code, hidden))
	}
	out := Credentials{
		ID: got.GetID(), Slug: got.GetSlug(), ClientID: got.GetClientID(), ClientSecret: got.GetClientSecret(),
		PrivateKey: []byte(got.GetPEM()), WebhookSecret: got.GetWebhookSecret(),
	}
	if err := out.Check(); err != nil {
		return Credentials{}, fmt.Errorf("%s: GitHub gave others than expected: %w", doing, err)
	}
	return out, nil
}
