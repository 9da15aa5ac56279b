package githubtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/internal/gittest"
)

func TestAppProvesItself(t *testing.T) {
	w := newWorld(t, Config{})
	other := must(w.AddApp(AppOptions{Name: "Other App"}))(t)
	hmac := must(jwt.NewWithClaims(jwt.SigningMethodHS256, &jwt.RegisteredClaims{Issuer: "1"}).SignedString([]byte("x")))(t)
	foreign := must(jwt.NewWithClaims(jwt.SigningMethodRS256, &jwt.RegisteredClaims{
		Issuer: w.app.ClientID, IssuedAt: jwt.NewNumericDate(time.Now()), ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Minute)),
	}).SignedString(other.key))(t)
	in := func(d time.Duration) *jwt.NumericDate { return jwt.NewNumericDate(time.Now().Add(d)) }
	for name, test := range map[string]struct {
		token  string
		status int
	}{
		"good":            {w.assertion(nil), 200},
		"by client ID":    {w.assertion(func(c *jwt.RegisteredClaims) { c.Issuer = w.app.ClientID }), 200},
		"too long":        {w.assertion(func(c *jwt.RegisteredClaims) { c.ExpiresAt = in(11 * time.Minute) }), 401},
		"over":            {w.assertion(func(c *jwt.RegisteredClaims) { c.ExpiresAt = in(-time.Second) }), 401},
		"of the future":   {w.assertion(func(c *jwt.RegisteredClaims) { c.IssuedAt = in(time.Minute) }), 401},
		"of no App":       {w.assertion(func(c *jwt.RegisteredClaims) { c.Issuer = "7" }), 404},
		"another's key":   {foreign, 401},
		"HMAC":            {hmac, 401},
		"cut":             {strings.TrimRight(w.assertion(nil)[:300], "."), 401},
		"an installation": {w.token(nil), 401},
	} {
		got, _, err := w.client(test.token).Apps.Get(context.Background(), "")
		if status(err) != test.status {
			t.Errorf("%s: %v, want %d", name, err, test.status)
		}
		if test.status == 200 && (got.GetSlug() != "preadmit" || got.GetID() != w.app.ID) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestTokensAreNarrowed checks that tokens are restricted to repositories and permissions.
func TestTokensAreNarrowed(t *testing.T) {
	w, ctx := newWorld(t, Config{}), context.Background()
	other := w.addRepository("octo", "other")
	foreign := w.addRepository("else", "where")
	full := w.token(nil)
	one := w.token(&github.InstallationTokenOptions{RepositoryIDs: []int64{w.repo.ID()}})
	read := w.token(&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Checks: github.String("read")}})
	for name, test := range map[string]struct {
		token string
		repo  *Repository
		want  int
	}{
		"all":               {full, other, 200},
		"one":               {one, w.repo, 200},
		"one, of the other": {one, other, 404},
		"read":              {read, w.repo, 403},
		"another account's": {full, foreign, 404},
		"none":              {"ghs_unknown", w.repo, 401},
	} {
		opts := github.CreateCheckRunOptions{Name: "x", HeadSHA: test.repo.Tip("main")}
		_, _, err := w.client(test.token).Checks.CreateCheckRun(ctx, test.repo.Owner(), test.repo.Name(), opts)
		if status(err) != test.want {
			t.Errorf("%s: %v, want %d", name, err, test.want)
		}
	}
	list, _, err := w.client(one).Apps.ListRepos(ctx, nil)
	if err != nil || list.GetTotalCount() != 1 || list.Repositories[0].GetFullName() != "octo/shop" {
		t.Errorf("repositories of one: %v %v", list, err)
	}
	if strings.Count(one, ".") != 2 || !strings.HasPrefix(one, "ghs_") || len(one) < 100 {
		t.Errorf("the token %q is not of the form with a JSON web token", one)
	}
	for name, o := range map[string]*github.InstallationTokenOptions{
		"at least one repository": {RepositoryIDs: []int64{foreign.ID()}},
		"permissions requested":   {Permissions: &github.InstallationPermissions{Administration: github.String("write")}},
	} {
		_, _, err := w.client(w.assertion(nil)).Apps.CreateInstallationToken(ctx, w.installed.in.id, o)
		if status(err) != 422 || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTokensEnd checks that tokens end by expiry, revocation, suspension and with the installation.
func TestTokensEnd(t *testing.T) {
	now := time.Now()
	w, ctx := newWorld(t, Config{TokenLife: time.Minute, Now: func() time.Time { return now }}), context.Background()
	ask := func(token string) int {
		_, _, err := w.client(token).Repositories.Get(ctx, "octo", "shop")
		return status(err)
	}
	first := w.token(nil)
	got := []int{ask(first)}
	w.locked(func() { now = now.Add(61 * time.Second) })
	got = append(got, ask(first))
	second := w.token(nil)
	w.installed.RevokeTokens()
	got = append(got, ask(second))
	check(t, w.installed.Suspend(true))
	_, _, err := w.client(w.assertion(nil)).Apps.CreateInstallationToken(ctx, w.installed.in.id, &github.InstallationTokenOptions{})
	got = append(got, status(err))
	check(t, w.installed.Suspend(false))
	third := w.token(nil)
	w.installed.SetRemaining(1)
	got = append(got, ask(third))
	_, _, err = w.client(third).Repositories.Get(ctx, "octo", "shop")
	var limited *github.RateLimitError
	if !errors.As(err, &limited) {
		t.Errorf("with nothing left: %v", err)
	}
	check(t, w.installed.Uninstall())
	got = append(got, ask(third))
	if diff := cmp.Diff([]int{200, 401, 401, 403, 200, 401}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	names, _ := w.hook.take(t)
	if diff := cmp.Diff([]string{"installation.suspend", "installation.unsuspend", "installation.deleted"}, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestGitTakesTheTokens checks that git accepts the API's tokens, for their repositories.
func TestGitTakesTheTokens(t *testing.T) {
	w := newWorld(t, Config{})
	other := w.addRepository("octo", "other")
	one := w.token(&github.InstallationTokenOptions{RepositoryIDs: []int64{w.repo.ID()}})
	checks := w.token(&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Checks: github.String("read")}})
	for _, test := range []struct {
		repo  *Repository
		token string
		want  string // a part of the error
	}{
		{w.repo, one, ""}, {other, one, "not found"}, {w.repo, checks, "403"}, {w.repo, "", "could not read Username"}, {w.repo, "x", "Authentication failed"},
	} {
		url := test.repo.CloneURL()
		if test.token != "" {
			url = strings.Replace(url, "://", "://x-access-token:"+test.token+"@", 1)
		}
		out, err := gittest.Run("", "", []string{"GIT_TERMINAL_PROMPT=0"}, "ls-remote", url, "refs/heads/main")
		switch {
		case test.want == "" && (err != nil || !strings.HasPrefix(out, w.repo.Tip("main"))):
			t.Errorf("%q %v", out, err)
		case test.want != "" && (err == nil || !strings.Contains(out, test.want)):
			t.Errorf("%q %v, want %s", out, err, test.want)
		}
	}
}
