package webhooks

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/webhooks/artifacts"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// fetchLocked is the value of artifacts.fetch that allows what the base's lock or configuration has.
const fetchLocked = "locked"

// outside checks the files for fetching artifacts.
func (r *configReader) outside() {
	c := r.config.Artifacts
	if _, err := ownedCredentials(c, r.sources.Getenv); err != nil {
		r.fail("artifacts.credentialsFile", "%v", err)
	}
	if _, err := authorities(c); err != nil {
		r.fail("artifacts.caFile", "%v", err)
	}
}

// ownedCredentials reads the credentials of hosts; it returns nil without a file.
func ownedCredentials(c Artifacts, getenv func(string) string) (*fetch.OwnedCredentials, error) {
	if c.CredentialsFile == "" {
		return nil, nil
	}
	data, err := os.ReadFile(c.CredentialsFile)
	if err != nil {
		return nil, err
	}
	return fetch.ParseOwnedCredentials(c.CredentialsFile, data, getenv)
}

// authorities returns those of the system and of artifacts.caFile; nil means the system's.
func authorities(c Artifacts) (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	data, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificates", c.CAFile)
	}
	return pool, nil
}

// artifactsDir is the subdirectory of tempDir for fetched artifacts.
const artifactsDir = "artifacts"

// newFetcher returns the fetcher of artifacts; nil if nothing is fetched.
func newFetcher(o Options, temp string) (jailed.Fetcher, error) {
	c := o.Config.Artifacts
	if c.Fetch != fetchLocked {
		return nil, nil
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	credentials, err := ownedCredentials(c, getenv)
	if err != nil {
		return nil, fmt.Errorf("artifacts.credentialsFile: %w", err)
	}
	pool, err := authorities(c)
	if err != nil {
		return nil, fmt.Errorf("artifacts.caFile: %w", err)
	}
	log := o.Log
	if log != nil {
		log = log.With("part", "artifacts")
	}
	return artifacts.New(artifacts.Config{
		Dir: filepath.Join(temp, artifactsDir), Size: int64(c.Size), Time: time.Duration(c.Timeout), Credentials: credentials, Log: log,
		Options: fetch.Options{Hosts: c.PrivateHosts, RootCAs: pool, Dial: o.Dial},
	}), nil
}
