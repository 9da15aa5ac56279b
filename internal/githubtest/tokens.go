package githubtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// createToken creates an installation token, restricted as requested.
func (s *Server) createToken(q *query) answer {
	in := s.installation(q)
	switch {
	case in == nil:
		return notFound()
	case in.suspended:
		return message(http.StatusForbidden, "This installation has been suspended")
	}
	var want struct {
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	if len(q.body) > 0 && json.Unmarshal(q.body, &want) != nil {
		return message(http.StatusBadRequest, "Problems parsing JSON")
	}
	c := &caller{
		kind: asInstallation, login: in.app.Slug + "[bot]", app: in.app, installation: in,
		permissions: maps.Clone(in.permissions), expires: s.config.Now().Add(s.config.TokenLife),
	}
	if !c.narrowTo(s.repositories(in), want.Repositories, want.RepositoryIDs) {
		return refusedToken("There is at least one repository that does not exist or is not accessible to the parent installation.")
	}
	if want.Permissions != nil && !c.narrow(want.Permissions) {
		return refusedToken("The permissions requested are not granted to this installation.")
	}
	return answer{status: http.StatusCreated, body: s.tokenBody(s.issue("ghs", c), c)}
}

// refusedToken returns an error that is no mistake of the client, since it has no other way to find out.
func refusedToken(text string) answer {
	a := message(http.StatusUnprocessableEntity, text)
	a.expected = true
	return a
}

// narrowTo restricts the repositories; it returns false if a requested one is missing.
func (c *caller) narrowTo(has []*repository, names []string, ids []int64) bool {
	if names == nil && ids == nil {
		return true
	}
	c.repositories = []int64{}
	for _, r := range has {
		if slices.Contains(ids, r.id) || slices.Contains(names, r.Name) {
			c.repositories = append(c.repositories, r.id)
		}
	}
	return len(c.repositories) == len(ids)+len(names)
}

// narrow restricts the permissions; it returns false if a requested one is missing.
func (c *caller) narrow(want map[string]string) bool {
	for name, level := range want {
		if !atLeast(c.permissions[name], level) {
			return false
		}
	}
	c.permissions = maps.Clone(want)
	c.permissions["metadata"] = "read"
	return true
}

// issue creates a token for a caller. An App's has the format that GitHub uses since 2026:
// ghs_, the App's ID, and a JSON web token.
func (s *Server) issue(prefix string, c *caller) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"n":%d,"exp":%d}`, s.name(), c.expires.Unix())
	sum := sha256.Sum256([]byte(claims))
	token := fmt.Sprintf("%s_%x", prefix, sum[:18])
	if prefix == "ghs" {
		token = fmt.Sprintf("ghs_%d_%s.%s.%s", c.app.ID, encode([]byte(`{"alg":"ES256","typ":"JWT"}`)), encode([]byte(claims)), encode(sum[:]))
	}
	s.tokens[token] = c
	return token
}

func (s *Server) tokenBody(token string, c *caller) map[string]any {
	body := map[string]any{
		"token": token, "expires_at": c.expires.UTC().Format(time.RFC3339), "permissions": c.permissions, "repository_selection": "all",
	}
	if c.repositories != nil {
		list := []any{}
		for _, r := range s.repositories(c.installation) {
			if slices.Contains(c.repositories, r.id) {
				list = append(list, s.repoBody(r, "read"))
			}
		}
		body["repositories"], body["repository_selection"] = list, "selected"
	}
	return body
}

// deleteToken revokes a token of one of an App's users.
func (s *Server) deleteToken(q *query) answer {
	var asked struct {
		Token string `json:"access_token"`
	}
	if q.params["client_id"] != q.who.app.ClientID {
		return notFound()
	}
	if json.Unmarshal(q.body, &asked) != nil {
		return message(http.StatusBadRequest, "Problems parsing JSON")
	}
	c := s.tokens[asked.Token]
	if c == nil || c.kind != asUser || c.app != q.who.app || c.revoked {
		return refusedToken("Validation Failed") // see refusedToken
	}
	c.revoked = true
	return answer{status: http.StatusNoContent}
}

// Tokens returns all tokens that were issued, valid or not, for tests that search for leaked
// tokens.
func (s *Server) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.tokens))
}
