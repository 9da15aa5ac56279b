package githubtest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// claims are the claims of an App's JSON web token.
type claims struct {
	Issuer   any   `json:"iss"`
	IssuedAt int64 `json:"iat"`
	Expires  int64 `json:"exp"`
}

// assertion authenticates an App by a JSON web token: RS256, not issued in the future, and
// expiring within ten minutes.
func (s *Server) assertion(token string) (*caller, answer) {
	broken := message(http.StatusUnauthorized, "A JSON web token could not be decoded")
	part := strings.Split(token, ".")
	if len(part) != 3 {
		return nil, broken
	}
	var header struct{ Alg string }
	var said claims
	signature, err := base64.RawURLEncoding.DecodeString(part[2])
	if err != nil || !decode(part[0], &header) || !decode(part[1], &said) || header.Alg != "RS256" {
		return nil, broken
	}
	app := s.issuer(said.Issuer)
	if app == nil {
		return nil, message(http.StatusNotFound, "Integration not found")
	}
	sum := sha256.Sum256([]byte(part[0] + "." + part[1]))
	if rsa.VerifyPKCS1v15(&app.key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return nil, broken
	}
	now := s.config.Now()
	switch issued, expires := time.Unix(said.IssuedAt, 0), time.Unix(said.Expires, 0); {
	case issued.After(now.Add(5 * time.Second)):
		return nil, message(http.StatusUnauthorized, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	case !expires.After(now):
		return nil, message(http.StatusUnauthorized, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case expires.After(now.Add(10 * time.Minute)):
		return nil, message(http.StatusUnauthorized, "'Expiration time' claim ('exp') is too far in the future")
	}
	return &caller{kind: asApp, login: app.Slug, app: app}, answer{}
}

func decode(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// issuer returns the App of an assertion: GitHub accepts its ID and its client ID.
func (s *Server) issuer(name any) *App {
	i := slices.IndexFunc(s.apps, func(a *App) bool {
		switch name := name.(type) {
		case string:
			return name == strconv.FormatInt(a.ID, 10) || name == a.ClientID
		case float64:
			return int64(name) == a.ID
		}
		return false
	})
	if i < 0 {
		return nil
	}
	return s.apps[i]
}
