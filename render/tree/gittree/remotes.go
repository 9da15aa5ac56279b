package gittree

import (
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/config"
)

// maxConfig is the maximum size of a repository's configuration, in bytes.
const maxConfig = 1 << 20

// Remotes returns the URLs of the repository's remotes, sorted; none if its configuration cannot be read. They may
// contain credentials.
func (r *Repository) Remotes() []string {
	f, err := os.Open(filepath.Join(r.location.common, "config"))
	if err != nil {
		return nil
	}
	defer f.Close()
	cfg, err := config.ReadConfig(io.LimitReader(f, maxConfig))
	if err != nil {
		return nil
	}
	var urls []string
	for _, remote := range cfg.Remotes {
		urls = append(urls, remote.URLs...)
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}
