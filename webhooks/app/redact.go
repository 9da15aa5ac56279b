package app

import (
	"regexp"
	"strings"
)

// secretText matches tokens, keys and assertions in GitHub's formats. Installation tokens have two
// forms: 36 letters and digits after ghs_, and since 2026 ghs_APPID_ and a JSON web token.
var secretText = regexp.MustCompile(`(?s)` +
	`-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\z)` +
	`|\b(gh[a-z]|github_pat)_[A-Za-z0-9_.=-]{8,}` +
	`|\bv1\.[0-9a-f]{40}\b` +
	`|\beyJ[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]*)?`)

// hidden replaces secrets.
const hidden = "[secret]"

// redact replaces secrets in a text: everything in the format of GitHub's secrets, and the App's
// own.
func (a *App) redact(text string) string {
	text = secretText.ReplaceAllString(text, hidden)
	a.mu.Lock()
	own := []string{a.creds.ClientSecret, a.creds.WebhookSecret, a.previous}
	a.mu.Unlock()
	for _, secret := range own {
		if len(secret) >= 6 { // a shorter one is part of other words, and no secret
			text = strings.ReplaceAll(text, secret, hidden)
		}
	}
	return text
}

// clean returns an error whose text has no secrets.
func (a *App) clean(err error) error {
	if text := err.Error(); a.redact(text) != text {
		return &answerError{a.redact(text), err}
	}
	return err
}
