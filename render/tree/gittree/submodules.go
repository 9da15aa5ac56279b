package gittree

import (
	"bytes"
	"io/fs"
	"path"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// modulesFile is the file that lists the submodules of a tree.
const modulesFile = ".gitmodules"

// SubmoduleURL returns the URL in .gitmodules of the submodule at a path; empty if git would not fetch it.
func (t *treeFS) SubmoduleURL(name string) string { return t.modules()[name] }

// newModules returns a function that returns the URLs of the submodules of a tree by path. It reads them once.
func newModules(t *treeFS) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		info, err := t.Stat(modulesFile)
		if err != nil || info.Size() > maxConfig {
			return nil
		}
		data, err := fs.ReadFile(t, modulesFile)
		if err != nil {
			return nil
		}
		return moduleURLs(data)
	})
}

// moduleURLs returns the URLs in a .gitmodules file by path. The URL is empty if a path occurs twice.
func moduleURLs(data []byte) map[string]string {
	cfg := config.New()
	if err := config.NewDecoder(bytes.NewReader(data)).Decode(cfg); err != nil {
		return nil
	}
	urls := map[string]string{}
	for _, module := range cfg.Section("submodule").Subsections {
		at := path.Clean(module.Option("path"))
		_, twice := urls[at]
		if twice || module.Option("update") == "none" {
			urls[at] = ""
			continue
		}
		urls[at] = module.Option("url")
	}
	return urls
}
