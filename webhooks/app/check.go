package app

import (
	"cmp"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"

	"github.com/golang-jwt/jwt/v4"
)

// Check validates the credentials, as far as that is possible without GitHub. Its error is
// a *KeyError.
func (c Credentials) Check() error {
	_, err := c.check()
	return err
}

// check does the work of Check, and returns the private key.
func (c Credentials) check() (*rsa.PrivateKey, error) {
	if c.ID <= 0 {
		return nil, &KeyError{KeyID, fmt.Sprintf("%d is no App ID: it is the number at the top of the App's settings page", c.ID)}
	}
	if c.WebhookSecret == "" {
		return nil, &KeyError{KeyWebhookSecret, "the webhook secret is empty: without it anybody could forge deliveries; set the one of the App's settings page"}
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(c.PrivateKey)
	if err != nil {
		return nil, &KeyError{KeyPrivateKey, notKey(c.PrivateKey) +
			": use the .pem file of \"Generate a private key\" on the App's settings page"}
	}
	return key, nil
}

// notKey describes a text that is no RSA private key, without quoting it.
func notKey(text []byte) string {
	block, _ := pem.Decode(text)
	switch {
	case block == nil && strings.Contains(string(text), `\n`):
		return `this is no RSA private key in PEM: its lines must end, which \n does not do`
	case block == nil:
		return "this is no RSA private key in PEM"
	case block.Type == "RSA PRIVATE KEY":
		return "this is no RSA private key in PEM: it is damaged, or locked by a password"
	case block.Type == "PRIVATE KEY":
		return "this is no RSA private key in PEM: it is damaged, or of another kind"
	}
	return fmt.Sprintf("this is no RSA private key in PEM, but %q", strings.ToLower(line(block.Type)))
}

// apiURL parses the root of the API, which ends in a slash.
func apiURL(given string) (*url.URL, error) {
	given = cmp.Or(given, DefaultBaseURL)
	u := rootURL(given)
	if u == nil {
		return nil, &KeyError{KeyBaseURL, fmt.Sprintf("%q is no URL of GitHub's API: use %s, or https://HOST/api/v3/ of a GitHub Enterprise Server; when it is not set, it follows from %s",
			given, DefaultBaseURL, KeyWebURL)}
	}
	return u, nil
}

// webURL returns the root of the web pages, without a slash at the end.
func webURL(base *url.URL, given string) (*url.URL, error) {
	if given == "" {
		given = base.Scheme + "://" + base.Host
		if base.Host == "api.github.com" {
			given = DefaultWebURL
		}
	}
	u := rootURL(given)
	if u == nil {
		return nil, &KeyError{KeyWebURL, fmt.Sprintf("%q is no URL of GitHub's pages: use %s, or https://HOST of a GitHub Enterprise Server", given, DefaultWebURL)}
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// rootURL parses a base URL; it returns nil when it is invalid.
func rootURL(s string) *url.URL {
	u, err := url.Parse(strings.TrimSuffix(s, "/") + "/")
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil
	}
	return u
}
