package githubtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"
	"golang.org/x/oauth2"
)

// follow requests a page, and returns the query of its redirect.
func (w *world) follow(address string) (int, url.Values, string) {
	w.t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp := must(c.Get(address))(w.t)
	defer func() { _ = resp.Body.Close() }()
	text := must(io.ReadAll(resp.Body))(w.t)
	to := must(url.Parse(resp.Header.Get("Location")))(w.t)
	return resp.StatusCode, to.Query(), string(text)
}

// TestLogin checks the login of a user with PKCE, and what the user's token gives access to.
func TestLogin(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	w.AddUser("alice")
	w.repo.SetRole("alice", "read")
	oauth := &oauth2.Config{
		ClientID: w.app.ClientID, ClientSecret: w.app.ClientSecret, RedirectURL: "http://service.example/login/callback",
		Endpoint: oauth2.Endpoint{AuthURL: w.WebURL + "/login/oauth/authorize", TokenURL: w.WebURL + "/login/oauth/access_token"},
	}
	verifier := oauth2.GenerateVerifier()
	address := oauth.AuthCodeURL("the-state", oauth2.S256ChallengeOption(verifier))
	if code, _, page := w.follow(address); code != 200 || !strings.Contains(page, `id="choose-alice"`) {
		t.Errorf("nobody is logged in: %d %s", code, page)
	}
	if _, back, _ := w.follow(address + "&choose=-"); back.Get("error") != "access_denied" || back.Get("state") != "the-state" {
		t.Errorf("cancelled: %v", back)
	}
	w.SetViewer("alice")
	_, back, _ := w.follow(address)
	if _, err := oauth.Exchange(ctx, back.Get("code"), oauth2.VerifierOption("another")); err == nil {
		t.Error("a wrong verifier is taken")
	}
	_, back, _ = w.follow(address)
	token := must(oauth.Exchange(ctx, back.Get("code"), oauth2.VerifierOption(verifier)))(t)
	if _, err := oauth.Exchange(ctx, back.Get("code"), oauth2.VerifierOption(verifier)); err == nil {
		t.Error("a code works twice")
	}
	c := w.client(token.AccessToken)
	user, _, err := c.Users.Get(ctx, "")
	if err != nil || user.GetLogin() != "alice" {
		t.Errorf("user %v %v", user, err)
	}
	hidden := w.addRepository("octo", "hidden")
	_, _, seen := c.Repositories.Get(ctx, "octo", "shop")
	_, _, unseen := c.Repositories.Get(ctx, "octo", hidden.Name())
	foreign := w.addRepository("else", "where") // the App is not installed there
	foreign.SetRole("alice", "admin")
	if _, _, err := c.Repositories.Get(ctx, "else", "where"); status(err) != 404 {
		t.Errorf("without the App: %v", err)
	}
	installed, _, err := c.Apps.ListUserInstallations(ctx, nil)
	check(t, err)
	repos, _, err := c.Apps.ListUserRepos(ctx, installed[0].GetID(), nil)
	if err != nil || status(seen) != 200 || status(unseen) != 404 || repos.GetTotalCount() != 1 {
		t.Errorf("%v %v %v %v", seen, unseen, repos, err)
	}
}

// TestPKCE checks the example of RFC 7636, appendix B.
func TestPKCE(t *testing.T) {
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	sum := sha256.Sum256([]byte(verifier))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != challenge || !proves(verifier, challenge) || proves(verifier+"x", challenge) {
		t.Error("the challenge is not that of the verifier")
	}
}

// TestManifest checks that a form creates an App, whose code gives its credentials once.
func TestManifest(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	post := func(m map[string]any) (int, url.Values) {
		text := must(json.Marshal(m))(t)
		c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp := must(c.PostForm(w.WebURL+"/settings/apps/new?state=abc", url.Values{"manifest": {string(text)}}))(t)
		_ = resp.Body.Close()
		to := must(url.Parse(resp.Header.Get("Location")))(t)
		return resp.StatusCode, to.Query()
	}
	m := map[string]any{
		"name": "My Bot", "url": "https://bot.example", "redirect_url": "https://bot.example/setup/callback",
		"hook_attributes": map[string]any{"url": "https://bot.example/hook"}, "callback_urls": []string{"https://bot.example/login/callback"},
		"default_permissions": map[string]string{"pull_requests": "write"}, "default_events": []string{"pull_request"},
	}
	_, back := post(m)
	c := w.client(w.assertion(nil))
	made, _, err := c.Apps.CompleteAppManifest(ctx, back.Get("code"))
	check(t, err)
	app := w.Apps()[1]
	if diff := cmp.Diff([]any{app.ID, "my-bot", string(app.PrivateKey), app.WebhookSecret(), "abc"},
		[]any{made.GetID(), made.GetSlug(), made.GetPEM(), made.GetWebhookSecret(), back.Get("state")}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, _, err := c.Apps.CompleteAppManifest(ctx, back.Get("code")); status(err) != 404 {
		t.Errorf("a code works twice: %v", err)
	}
	m["default_events"] = []string{"merge_group"}
	if code, _ := post(m); code != 422 || len(w.Problems()) != 1 {
		t.Errorf("an event without its permission: %d %v", code, w.Problems())
	}
	w.locked(func() { w.problems = nil })
}

// TestDeleteToken checks that an App can revoke the tokens of its own users, with its client secret.
func TestDeleteToken(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	token := w.app.UserToken("alice")
	remove := func(id, secret, token string) int {
		c := github.NewClient((&github.BasicAuthTransport{Username: id, Password: secret}).Client())
		c.BaseURL = must(url.Parse(w.URL))(t)
		answer, _ := c.Authorizations.Revoke(ctx, w.app.ClientID, token)
		return answer.StatusCode
	}
	got := []int{remove("other", "secret", token), remove(w.app.ClientID, "wrong", token), remove(w.app.ClientID, w.app.ClientSecret, "none")}
	if _, _, err := w.client(token).Users.Get(ctx, ""); err != nil {
		t.Errorf("before: %v", err)
	}
	got = append(got, remove(w.app.ClientID, w.app.ClientSecret, token))
	if _, _, err := w.client(token).Users.Get(ctx, ""); status(err) != 401 {
		t.Errorf("after: %v", err)
	}
	if diff := cmp.Diff([]int{401, 401, 422, 204}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}
