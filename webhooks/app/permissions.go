package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v62/github"
)

// permission is a permission of a GitHub App. The names and levels are those of the properties of
// app-permissions in GitHub's OpenAPI description.
type permission struct {
	name, level string
	// required permissions are needed for every scan.
	required bool
}

func (p permission) String() string { return p.name + ": " + p.level }

// scanning returns the permissions for judging a pull request and publishing the verdict. Without
// one that is not required, its output is omitted, and the rest of the output notes that.
func scanning() []permission {
	return []permission{
		{"metadata", "read", true},
		{"contents", "read", true},
		{"checks", "write", false},
		{"pull_requests", "write", false},
		{"security_events", "write", false},
	}
}

// looking returns the permissions for finding pull requests without a verdict.
func looking() []permission {
	return []permission{{"metadata", "read", true}, {"pull_requests", "read", false}, {"checks", "read", false}}
}

// wire returns permissions in the type of go-github.
func wire(list []permission) *github.InstallationPermissions {
	levels := map[string]string{}
	for _, p := range list {
		levels[p.name] = p.level
	}
	var out github.InstallationPermissions
	convert(levels, &out)
	return &out
}

// levels returns granted permissions as levels by name.
func levels(granted *github.InstallationPermissions) map[string]string {
	out := map[string]string{}
	if granted != nil {
		convert(granted, &out)
	}
	return out
}

// convert converts between levels by name and go-github's struct, by way of JSON.
func convert(from, to any) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err) // both sides are strings by name
	}
}

// fit reduces wants to what was granted, and returns what is missing.
func fit(wants []permission, granted map[string]string) (got []permission, missing []string, err error) {
	for _, p := range wants {
		level := granted[p.name]
		switch {
		case covers(level, p.level):
			got = append(got, p)
			continue
		case p.required:
			return nil, nil, &finalError{fmt.Sprintf("the installation does not grant %s: the account that installed the App must accept its permissions", p), ErrGone}
		case level != "":
			got = append(got, permission{name: p.name, level: level})
		}
		missing = append(missing, p.String())
	}
	return got, missing, nil
}

// covers reports whether a granted level includes the wanted one.
func covers(granted, wanted string) bool {
	order := []string{"read", "write", "admin"}
	return slices.Index(order, granted) >= slices.Index(order, wanted)
}

// narrow requests a token with only the permissions that the installation grants.
func (s *Access) narrow(ctx context.Context, tokens *ghinstallation.Transport, cause error) (*ghinstallation.Transport, error) {
	got, missing, err := s.granted(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(missing) == 0:
		return nil, s.explain(cause)
	}
	narrowed := s.transport(got, tokenNarrowed)
	if _, err := narrowed.Token(ctx); err != nil {
		return nil, s.explain(err)
	}
	s.app.log.Warn("the installation does not grant all permissions", "installation", s.key.installation, "missing", strings.Join(missing, ", "))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == tokens {
		s.tokens, s.has, s.missing, s.lacking = narrowed, got, missing, s.app.clock.Now()
	}
	return narrowed, nil
}

// granted reads the installation's permissions, and returns the wanted ones reduced to them and
// what is missing.
func (s *Access) granted(ctx context.Context) (got []permission, missing []string, err error) {
	in, _, err := s.app.self.Apps.GetInstallation(ctx, s.key.installation)
	if err != nil {
		return nil, nil, s.app.explain(fmt.Sprintf("ask for the permissions of installation %d", s.key.installation), err)
	}
	return fit(s.wants, levels(in.Permissions))
}

// Recheck drops a token that lacks permissions, unless GitHub answers that the installation still
// grants no more. GitHub sends the event of accepted permissions to only one replica, so each
// replica checks before a new task uses the token. If nothing is missing, it sends no request.
func (s *Access) Recheck(ctx context.Context) {
	s.mu.Lock()
	tokens, has, lacks := s.tokens, s.has, len(s.missing) > 0
	s.mu.Unlock()
	if !lacks {
		return
	}
	if got, _, err := s.granted(ctx); err != nil || !slices.Equal(got, has) { // on an error, requesting the next token reports it
		s.drop(tokens)
	}
}
