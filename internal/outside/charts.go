package outside

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// repository is a Helm repository.
type repository struct{ entries map[string][]entry }

// entry is a version of a chart in the index.
type entry struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	Digest  string   `json:"digest"`
}

// index returns the index of a repository, as JSON, which is a subset of YAML.
func (r *repository) index() []byte {
	data, _ := json.Marshal(map[string]any{"apiVersion": "v1", "entries": r.entries}) // strings
	return data
}

// AddChart adds an archive to the Helm repository or registry at a URL.
func (w *World) AddChart(at, name, version string, archive []byte) error {
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	dir := strings.TrimSuffix(u.Path, "/")
	if u.Scheme == "oci" {
		w.AddOCI(u.Host, path.Join(dir, name)[1:], strings.ReplaceAll(version, "+", "_"), ChartLayer, archive)
		return nil
	}
	h := w.host(u.Host)
	if h.charts[dir] == nil {
		h.charts[dir] = &repository{entries: map[string][]entry{}}
	}
	file := fmt.Sprintf("archives/%s-%s.tgz", name, version)
	h.files[dir+"/"+file] = archive
	h.charts[dir].entries[name] = append(h.charts[dir].entries[name], entry{name, version, []string{file}, fmt.Sprintf("%x", sha256.Sum256(archive))})
	return nil
}
