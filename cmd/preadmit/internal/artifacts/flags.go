package artifacts

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Flags are the flags for where artifacts are stored and how they are fetched.
type Flags struct {
	dir         string
	given       string
	hosts       cli.Words
	credentials string
	authorities string
	// Logins has credentials that are not in a file, see fetch.ParseLogins.
	Logins string
	// Default is the directory of the store if no flag names one; empty for a directory in
	// the user's cache directory.
	Default string
}

// NewFlags returns the flags with their defaults.
func NewFlags() Flags { return Flags{hosts: cli.Words{Kind: "HOST"}} }

// RegisterDir declares the flag for the directory of the store.
func (f *Flags) RegisterDir(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "artifact-dir", "", "`DIR` of fetched artifacts (default preadmit/artifacts in the user's cache directory)")
}

// RegisterGiven declares the flag for a directory of charts.
func (f *Flags) RegisterGiven(flags *pflag.FlagSet) {
	flags.StringVar(&f.given, "artifacts", "", "`DIR` with archives of charts and their "+store.IndexName)
}

// Given opens the directory of charts. It returns nil if no flag names one.
func (f *Flags) Given() (artifact.Contents, error) {
	if f.given == "" {
		return nil, nil
	}
	given, err := store.OpenDirectory(f.given)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: there is no such directory with %s", escape.Line(f.given), store.IndexName)
	}
	if err != nil {
		return nil, cli.Usagef("--artifacts %w", err)
	}
	return given, nil
}

// Register declares all flags except --artifacts.
func (f *Flags) Register(flags *pflag.FlagSet) {
	f.RegisterDir(flags)
	flags.StringVar(&f.credentials, "credentials", "", "`FILE` with credentials of hosts")
	flags.StringVar(&f.authorities, "ca-file", "", "PEM `FILE` with more certificate authorities")
	flags.Var(&f.hosts, "private-host", "`HOST` that may have a private address, with its port if that is not 443 (repeatable)")
}

// Store opens the store.
func (f *Flags) Store() (*store.Store, error) {
	if dir := cmp.Or(f.dir, f.Default); dir != "" {
		return store.Open(dir), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, cli.Usagef("there is no directory to keep artifacts in: %w; name one with --artifact-dir", err)
	}
	return store.Open(filepath.Join(dir, "preadmit", "artifacts")), nil
}

// Client returns a client that fetches into a store.
func (f *Flags) Client(p cli.Process, into *store.Store) (*fetch.Client, error) {
	opts := fetch.Options{Hosts: f.hosts.Values, Dial: p.Dial}
	if f.credentials != "" {
		data, err := os.ReadFile(f.credentials)
		if err != nil {
			return nil, cli.Usagef("--credentials: %w", err)
		}
		if opts.Credentials, err = fetch.ParseCredentials(f.credentials, data, p.Getenv); err != nil {
			return nil, cli.Usagef("--credentials:\n%w", err)
		}
	}
	if f.Logins != "" {
		var err error
		if opts.Credentials, err = fetch.ParseLogins(f.Logins); err != nil {
			return nil, cli.Usagef("credentials: %w", err)
		}
	}
	if f.authorities != "" {
		pool, err := f.pool()
		if err != nil {
			return nil, cli.Usagef("--ca-file: %w", err)
		}
		opts.RootCAs = pool
	}
	return fetch.New(into, opts), nil
}

// pool returns the certificate authorities of the system and of --ca-file.
func (f *Flags) pool() (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(f.authorities)
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificates", f.authorities)
	}
	return pool, nil
}
