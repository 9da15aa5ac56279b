package gittree

import (
	"bytes"
	"io/fs"
	"path"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// modulesFile names the submodules of a tree.
const modulesFile = ".gitmodules"

// SubmoduleURL is what .gitmodules has as the URL of the submodule at a path; empty when git
// would not fetch it.
func (t *treeFS) SubmoduleURL(name string) string { return t.modules()[name] }

// newModules returns what reads the URLs of the submodules of a tree once, by their paths.
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

// moduleURLs are the URLs of a file .gitmodules by their paths. Two of one path are none.
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
