package webhooks

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/preadmit/preadmit/webhooks/app"
)

// Files in the data directory. Only the service's user may read them.
const (
	// appFile stores the App that /setup created.
	appFile = "app.json"
	// devSecretFile stores the webhook secret of a service without an App.
	devSecretFile = "webhook-secret"
)

// secrets reads the App's credentials: those of the configuration, else those of the App that
// /setup created.
type secrets struct {
	config AppConfig
	dir    string
}

// errNoApp means that there is no App yet.
var errNoApp = errors.New("there is no GitHub App yet: open /setup, or set app.id")

// read returns the current credentials. The error has an *app.KeyError for each invalid one.
func (s secrets) read() (app.Credentials, error) {
	if s.config == (AppConfig{}) {
		return s.saved()
	}
	c := app.Credentials{ID: s.config.ID, ClientID: s.config.ClientID}
	var errs []error
	take := func(key, file, text string) string {
		var err error
		if file != "" {
			text, err = readSecret(file)
		}
		if err == nil && key != app.KeyPrivateKey && strings.ContainsAny(strings.TrimSpace(text), "\r\n") {
			err = errors.New("the secret has more than one line: it is one, without spaces around it")
		}
		if err != nil {
			errs = append(errs, &app.KeyError{Key: key, Problem: err.Error()})
		}
		return strings.TrimSpace(text)
	}
	c.PrivateKey = []byte(take(app.KeyPrivateKey, s.config.PrivateKeyFile, s.config.PrivateKey))
	c.WebhookSecret = take(app.KeyWebhookSecret, s.config.WebhookSecretFile, s.config.WebhookSecret)
	c.ClientSecret = take(app.KeyClientSecret, s.config.ClientSecretFile, s.config.ClientSecret)
	return c, errors.Join(errs...)
}

// readSecret reads a file that must not be empty.
func readSecret(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%w; name a file that this user may read", err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", fmt.Errorf("%s is empty: write the secret into it", file)
	}
	return string(data), nil
}

// saved returns the credentials of the App that /setup created.
func (s secrets) saved() (c app.Credentials, err error) {
	file := filepath.Join(s.dir, appFile)
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, errNoApp
	case err != nil:
		return c, fmt.Errorf("read the App that /setup made: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("read the App that /setup made: %s: %w; remove the file to set up another", file, err)
	}
	return c, nil
}

// save stores the credentials of the App that /setup created.
func (s secrets) save(c app.Credentials) error {
	data, err := json.Marshal(c)
	if err == nil {
		err = writePrivate(filepath.Join(s.dir, appFile), data)
	}
	if err != nil {
		return fmt.Errorf("keep the App: %w", err)
	}
	return nil
}

// devSecret returns the webhook secret of a service that has no App yet. It stays the same.
func (s secrets) devSecret() (string, error) {
	file := filepath.Join(s.dir, devSecretFile)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data = []byte(rand.Text())
		err = writePrivate(file, data)
	}
	if err != nil {
		return "", fmt.Errorf("keep a webhook secret: %w", err)
	}
	if len(data) == 0 {
		return "", fmt.Errorf("%s is empty: remove it", file)
	}
	return string(data), nil
}

// writePrivate writes a file that nobody else may read, atomically.
func writePrivate(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func sameCredentials(a, b app.Credentials) bool { return reflect.DeepEqual(a, b) }
