package webhooks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/preadmit/preadmit/webhooks/app"
)

// Load is ReadConfig for a service that starts on this machine: it also checks the files that
// the settings name. It creates the data directory.
func Load(s Sources) (*Config, error) {
	r := read(s)
	if len(r.errs) == 0 {
		r.files()
		r.credentials()
	}
	return r.config, errors.Join(r.errs...)
}

// Misconfigured reports whether an error of New or Run can only be fixed by other settings or
// credentials.
func Misconfigured(err error) bool {
	var key *app.KeyError
	var store *storeError
	return errors.As(err, &key) || errors.As(err, &store) || errors.Is(err, app.ErrCredentials)
}

// credentials checks the App's secrets, if there are any.
func (r *configReader) credentials() {
	if r.mistaken["dataDir"] && r.config.App == (AppConfig{}) {
		return // the secrets are in it, if anywhere
	}
	c, err := secrets{config: r.config.App, dir: r.config.DataDir}.read()
	if errors.Is(err, errNoApp) {
		return
	}
	if err == nil {
		err = c.Check()
	}
	r.blame(err)
}

// blame reports invalid keys under the name of the setting that was used, a file or its content.
func (r *configReader) blame(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, each := range joined.Unwrap() {
			r.blame(each)
		}
		return
	}
	var wrong *app.KeyError
	switch {
	case err == nil:
	case errors.As(err, &wrong):
		key := wrong.Key
		if text := strings.TrimSuffix(key, "File"); r.from[text] != "" {
			key = text
		}
		r.fail(key, "%s", wrong.Problem)
	default:
		r.errs = append(r.errs, err)
	}
}

// files checks that named files can be read, and that the data directory is writable.
func (r *configReader) files() {
	for _, s := range []struct{ key, file string }{
		{"nats.credentialsFile", r.config.NATS.CredentialsFile}, {"nats.caFile", r.config.NATS.CAFile},
		{"artifacts.credentialsFile", r.config.Artifacts.CredentialsFile}, {"artifacts.caFile", r.config.Artifacts.CAFile},
	} {
		if s.file == "" {
			continue
		}
		if _, err := os.ReadFile(s.file); err != nil {
			r.fail(s.key, "%v; name a file that this user may read", err)
		}
	}
	if len(r.errs) == 0 {
		r.outside()
	}
	if err := prepare(r.config.DataDir); err != nil {
		r.fail("dataDir", "%v; name a directory that this user may make and write", err)
	}
}

// tempDir is the subdirectory of the data directory for repositories during scans.
const tempDir = "tmp"

// prepare creates the data directory, and checks that it is writable.
func prepare(dir string) error {
	tmp := filepath.Join(dir, tempDir)
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	for _, each := range []string{dir, tmp} {
		f, err := os.CreateTemp(each, ".new-*")
		if err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			return fmt.Errorf("write in it: %w", err)
		}
	}
	return nil
}
