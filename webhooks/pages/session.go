package pages

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/preadmit/preadmit/webhooks/app"
)

const (
	// sessionAge is how long a login lasts; user tokens of GitHub Apps live as long.
	sessionAge = 8 * time.Hour
	// loginAge is how long a viewer has to log in at GitHub.
	loginAge = 10 * time.Minute

	sessionCookie = "preadmit-session"
	loginCookie   = "preadmit-login"
)

// session is the encrypted content of the cookie of a viewer who logged in.
type session struct {
	Login   string    `json:"login"`
	Token   string    `json:"token"`
	Expires time.Time `json:"expires"`
}

// pending is the encrypted content of the cookie of a login in progress.
type pending struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"`
	Return   string    `json:"return"`
	Expires  time.Time `json:"expires"`
}

// session returns the content of the viewer's cookie, if it is valid.
func (p *Pages) session(r *http.Request) (*session, error) {
	var s session
	if err := p.openCookie(r, sessionCookie, &s); err != nil {
		return nil, err
	}
	if s.Token == "" || !p.config.Now().Before(s.Expires) || p.ended.has(s.Token) {
		return nil, errors.New("the session is over")
	}
	return &s, nil
}

// cookieName adds a prefix with which browsers accept the cookie only over https and send it to
// this host only.
func (p *Pages) cookieName(name string) string {
	if p.public.Scheme == "https" {
		return "__Host-" + name
	}
	return name
}

// setCookie encrypts a value into a cookie that expires at a time.
func (p *Pages) setCookie(w http.ResponseWriter, name string, value any, expires time.Time) error {
	text, err := p.seal(name, value)
	if err != nil {
		return err
	}
	age := int(expires.Sub(p.config.Now()).Seconds())
	p.writeCookie(w, name, text, max(age, 1))
	return nil
}

func (p *Pages) dropCookie(w http.ResponseWriter, name string) { p.writeCookie(w, name, "", -1) }

func (p *Pages) writeCookie(w http.ResponseWriter, name, text string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: p.cookieName(name), Value: text, Path: "/", MaxAge: age,
		Secure: p.public.Scheme == "https", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (p *Pages) openCookie(r *http.Request, name string, into any) error {
	cookie, err := r.Cookie(p.cookieName(name))
	if err != nil {
		return err
	}
	return p.unseal(name, cookie.Value, into)
}

// sealer returns a cipher whose key is derived from the App's client secret. A new secret ends
// all sessions.
func (p *Pages) sealer(name string) (cipher.AEAD, error) {
	secret := p.config.App.Credentials().ClientSecret
	if secret == "" { // there was one when the service started
		return nil, errors.New("there is no client secret: set " + app.KeyClientSecret)
	}
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "preadmit pages: "+name, 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of a cookie: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("derive the key of a cookie: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (p *Pages) seal(name string, value any) (string, error) {
	sealer, err := p.sealer(name)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("write a cookie: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealer.Seal(nil, nil, text, []byte(name))), nil
}

func (p *Pages) unseal(name, text string, into any) error {
	sealer, err := p.sealer(name)
	if err != nil {
		return err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return errors.New("the cookie is not one of ours")
	}
	plain, err := sealer.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return errors.New("the cookie is not one of ours")
	}
	return json.Unmarshal(plain, into)
}

// nonce returns unguessable text.
func nonce() string { return rand.Text() }
