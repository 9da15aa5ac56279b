package outside

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	// ChartLayer is the media type of the layer with a chart.
	ChartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	// FluxLayer is the media type of the layer that `flux push artifact` creates.
	FluxLayer = "application/vnd.cncf.flux.content.v1.tar+gzip"

	manifestType = "application/vnd.oci.image.manifest.v1+json"
)

// registry is a read-only registry of OCI artifacts.
type registry struct {
	blobs map[string][]byte
	// manifests are by repository and tag or digest, tags by repository.
	manifests map[string][]byte
	tags      map[string][]string
}

func newRegistry() *registry {
	return &registry{blobs: map[string][]byte{}, manifests: map[string][]byte{}, tags: map[string][]string{}}
}

// AddOCI adds an artifact with one layer. The host of Docker Hub differs from that in its references.
func (w *World) AddOCI(name, repository, tag, media string, layer []byte) {
	if name == "docker.io" {
		name = "registry-1.docker.io"
	}
	r := w.host(name).registry
	config := []byte("{}")
	r.blobs[digest(layer)], r.blobs[digest(config)] = layer, config
	manifest, _ := json.Marshal(map[string]any{ // strings and numbers
		"schemaVersion": 2, "mediaType": manifestType,
		"config": map[string]any{"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": digest(config), "size": len(config)},
		"layers": []any{map[string]any{"mediaType": media, "digest": digest(layer), "size": len(layer)}},
	})
	r.manifests[repository+":"+tag], r.manifests[repository+":"+digest(manifest)] = manifest, manifest
	if !slices.Contains(r.tags[repository], tag) {
		r.tags[repository] = append(r.tags[repository], tag)
	}
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// ServeHTTP implements http.Handler.
func (r *registry) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	rest := strings.TrimPrefix(req.URL.Path, "/v2/")
	if repository, ref, ok := cutLast(rest, "/manifests/"); ok && r.manifests[repository+":"+ref] != nil {
		data := r.manifests[repository+":"+ref]
		rw.Header().Set("Content-Type", manifestType)
		rw.Header().Set("Docker-Content-Digest", digest(data))
		_, _ = rw.Write(data)
		return
	}
	if _, ref, ok := cutLast(rest, "/blobs/"); ok && r.blobs[ref] != nil {
		_, _ = rw.Write(r.blobs[ref])
		return
	}
	if repository, ok := strings.CutSuffix(rest, "/tags/list"); ok && len(r.tags[repository]) > 0 {
		_ = json.NewEncoder(rw).Encode(map[string]any{"name": repository, "tags": r.tags[repository]})
		return
	}
	http.NotFound(rw, req)
}

// cutLast cuts a text around the last separator.
func cutLast(text, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
