package pages

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Token is a token of the API. The service knows only its hash.
type Token struct {
	// Name identifies a token, in logs and in the reasons of scans.
	Name string
	// SHA256 is the hash of the token, in hex: 64 digits.
	SHA256 string
	// Repositories are those it may be used for, as owner/name. None means all.
	Repositories []string
}

// checkTokens rejects tokens with a duplicate name or an invalid field.
func checkTokens(tokens []Token) error {
	seen := map[string]bool{}
	for i, t := range tokens {
		key := fmt.Sprintf("api.tokens[%d]", i)
		if t.Name == "" || seen[t.Name] {
			return fmt.Errorf("%s.name: want a name that no other token has, not %q", key, t.Name)
		}
		seen[t.Name] = true
		if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("%s.sha256: want the SHA-256 hash of the token in hex, 64 digits: printf %%s \"$TOKEN\" | sha256sum", key)
		}
		for _, name := range t.Repositories {
			owner, repo, ok := strings.Cut(name, "/")
			if !ok || !repositoryName(owner) || !repositoryName(repo) {
				return fmt.Errorf("%s.repositories: want owner/name, not %q", key, name)
			}
		}
	}
	return nil
}

// may reports whether the token may be used for a repository.
func (t *Token) may(owner, repo string) bool {
	return len(t.Repositories) == 0 || slices.ContainsFunc(t.Repositories, func(name string) bool {
		return strings.EqualFold(name, owner+"/"+repo)
	})
}

// bearer returns the configured token that a request carries, or nil. It compares all tokens in
// constant time, so that the duration reveals nothing.
func (p *Pages) bearer(r *http.Request) *Token {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return nil
	}
	given := sha256.Sum256([]byte(text))
	var found *Token
	for i := range p.config.Tokens {
		want, err := hex.DecodeString(p.config.Tokens[i].SHA256)
		if err == nil && subtle.ConstantTimeCompare(given[:], want) == 1 {
			found = &p.config.Tokens[i]
		}
	}
	return found
}
