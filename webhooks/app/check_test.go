package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// inPEM returns a key, or something else, in PEM.
func inPEM(t *testing.T, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// TestCheck checks that errors name the key of the configuration, and contain no secret.
func TestCheck(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := inPEM(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), nil)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	publicKey := inPEM(t, "PUBLIC KEY", public, err)
	curved, err := x509.MarshalPKCS8PrivateKey(curve)
	curvedKey := inPEM(t, "PRIVATE KEY", curved, err)
	const first = "this is no RSA private key in PEM"
	for _, test := range []struct {
		what      string
		c         Credentials
		key, want string
	}{
		{"good", Credentials{ID: 1, WebhookSecret: "s", PrivateKey: good}, "", ""},
		{"no ID", Credentials{WebhookSecret: "s", PrivateKey: good}, KeyID, "0 is no App ID"},
		{"no secret", Credentials{ID: 1, PrivateKey: good}, KeyWebhookSecret, "the webhook secret is empty"},
		{"no key", Credentials{ID: 1, WebhookSecret: "s"}, KeyPrivateKey, first + ": use the .pem file"},
		{"a text", Credentials{ID: 1, WebhookSecret: "s", PrivateKey: []byte("hunter2")}, KeyPrivateKey, first + ": use"},
		{"in one line", Credentials{ID: 1, WebhookSecret: "s", PrivateKey: []byte(strings.ReplaceAll(string(good), "\n", `\n`))}, KeyPrivateKey, first + ": its lines must end"},
		{"cut off", Credentials{ID: 1, WebhookSecret: "s", PrivateKey: inPEM(t, "RSA PRIVATE KEY", []byte("hunter2"), nil)}, KeyPrivateKey, first + ": it is damaged"},
		{"public", Credentials{ID: 1, WebhookSecret: "s", PrivateKey: publicKey}, KeyPrivateKey, first + `, but "public key"`},
		{"of a curve", Credentials{ID: 1, WebhookSecret: "s", PrivateKey: curvedKey}, KeyPrivateKey, first + ": it is damaged, or of another kind"},
	} {
		err := test.c.Check()
		var wrong *KeyError
		switch {
		case test.key == "" && err != nil:
			t.Errorf("%s: %v", test.what, err)
		case test.key != "" && (!errors.As(err, &wrong) || wrong.Key != test.key || !strings.Contains(wrong.Problem, test.want)):
			t.Errorf("%s: %v, want %s: %s", test.what, err, test.key, test.want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error shows the key: %v", test.what, err)
		}
	}
}

// TestWrongURLs checks that errors name the key of the configuration.
func TestWrongURLs(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	for _, test := range []struct{ api, web, want string }{
		{"ftp://x", "", `github.apiURL: "ftp://x" is no URL of GitHub's API`},
		{"", "x y", `github.url: "x y" is no URL of GitHub's pages`},
		{"https://u:p@x/", "", "when it is not set, it follows from github.url"},
	} {
		_, err := New(Config{BaseURL: test.api, WebURL: test.web, Credentials: w.ours.Credentials()})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
