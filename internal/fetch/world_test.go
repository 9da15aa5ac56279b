package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
)

// server is an HTTPS server on the loopback interface that records requests.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// serve serves over HTTPS. Servers of tests have the same certificate.
func serve(t *testing.T, handler http.Handler) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func serveFunc(t *testing.T, handler http.HandlerFunc) *server { return serve(t, handler) }

// requests returns the requests so far: method, path and credentials.
func (s *server) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, "\n")
}

func (s *server) host() string { return strings.TrimPrefix(s.URL, "https://") }

// roots returns a pool that trusts the servers of tests.
func roots(s *server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// newClient returns a client that may connect to some servers, and its store.
func newClient(t *testing.T, opts Options, servers ...*server) (*Client, *store.Store) {
	t.Helper()
	for _, s := range servers {
		opts.Hosts = append(opts.Hosts, s.host())
		if opts.RootCAs == nil {
			opts.RootCAs = roots(s)
		}
	}
	kept := store.Open(filepath.Join(t.TempDir(), "cache"))
	return New(kept, opts), kept
}

// chartArchive returns a small chart.
func chartArchive(t *testing.T, name, version string) []byte {
	t.Helper()
	return archive(t, &tar.Header{Name: name + "/Chart.yaml"}, "apiVersion: v2\nname: "+name+"\nversion: "+version+"\n")
}

// archive returns a compressed archive with one file.
func archive(t *testing.T, header *tar.Header, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	header.Size, header.Mode = int64(len(content)), 0o644
	if err := w.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(content))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_ = zipped.Close()
	return b.Bytes()
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// gitServer serves a repository called repo with git's own http-backend.
func gitServer(t *testing.T, files map[string]string) (*server, *gittest.History) {
	t.Helper()
	root := t.TempDir()
	h, err := gittest.NewHistory(filepath.Join(root, "org", "repo"), files, map[string]string{"more.yaml": "more"}, map[string]string{"side.yaml": "side"})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := gittest.Backend(root)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, backend), h
}

// registryServer runs Debian's registry, behind HTTPS. push connects to it directly.
func registryServer(t *testing.T) (s *server, push func(repository, tag, media string, content []byte) string) {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not installed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	_ = listener.Close()
	dir := t.TempDir()
	config := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %q, relativeurls: true}\n", dir, at)
	file := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", file)
	cmd.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	waitFor(t, "http://"+at+"/v2/")
	to, _ := url.Parse("http://" + at)
	s = serve(t, httputil.NewSingleHostReverseProxy(to))
	return s, func(repository, tag, media string, content []byte) string {
		return pushTo(t, at, repository, tag, media, content)
	}
}

func waitFor(t *testing.T, url string) {
	t.Helper()
	for range 100 {
		if resp, err := http.Get(url); err == nil {
			_ = resp.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not answer", url)
}

// pushTo pushes a layer with a manifest, and returns the digest of the manifest.
func pushTo(t *testing.T, at, repository, tag, media string, content []byte) string {
	t.Helper()
	repo, err := remote.NewRepository(at + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	repo.PlainHTTP = true
	layer := ocispec.Descriptor{MediaType: media, Digest: digest.FromBytes(content), Size: int64(len(content))}
	if err := repo.Blobs().Push(t.Context(), layer, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	manifest, err := oras.PackManifest(t.Context(), repo, oras.PackManifestVersion1_1, "application/vnd.test", oras.PackManifestOptions{Layers: []ocispec.Descriptor{layer}})
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Tag(t.Context(), manifest, tag); err != nil {
		t.Fatal(err)
	}
	return string(manifest.Digest)
}

// bytesOf returns the content that an artifact was resolved to.
func bytesOf(t *testing.T, s *store.Store, pin artifact.Pin) []byte {
	t.Helper()
	data, err := s.Bytes(pin.Digest, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
