package outside

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// World is a number of hosts. Everything is added before Start.
type World struct {
	hosts  map[string]*host
	server *httptest.Server
	// CA is the certificate that signs those of the hosts, as PEM.
	CA []byte

	mu    sync.Mutex
	asked []string
}

// host is the content of a host.
type host struct {
	charts   map[string]*repository // by the path of the index
	registry *registry
	files    map[string][]byte
	git      http.Handler
	ssh      string // address of the SSH server for git
}

// New returns a World without hosts.
func New() *World { return &World{hosts: map[string]*host{}} }

// host returns the host with a name, and creates it if needed.
func (w *World) host(name string) *host {
	if w.hosts[name] == nil {
		w.hosts[name] = &host{charts: map[string]*repository{}, registry: newRegistry(), files: map[string][]byte{}}
	}
	return w.hosts[name]
}

// AddFile adds a file.
func (w *World) AddFile(name, path string, data []byte) { w.host(name).files[path] = data }

// AddGit sets the handler of the git repositories of a host.
func (w *World) AddGit(name string, handler http.Handler) { w.host(name).git = handler }

// AddSSH sets the address of the SSH server for the git repositories of a host.
func (w *World) AddSSH(name, address string) { w.host(name).ssh = address }

// Start starts the server of all hosts.
func (w *World) Start() error {
	var names []string
	for name := range w.hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	certificate, err := w.certify(names)
	if err != nil {
		return err
	}
	w.server = httptest.NewUnstartedServer(w)
	w.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	w.server.StartTLS()
	return nil
}

// Close stops the server.
func (w *World) Close() { w.server.Close() }

// certify creates a self-signed certificate for names.
func (w *World) certify(names []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "outside"}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	w.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// Dial connects to the server for every address, except for SSH.
func (w *World) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if name, ok := strings.CutSuffix(address, ":22"); ok && w.hosts[name] != nil {
		return new(net.Dialer).DialContext(ctx, network, w.hosts[name].ssh)
	}
	return new(net.Dialer).DialContext(ctx, network, w.server.Listener.Addr().String())
}

// Requests returns the requests so far, as HOST METHOD PATH.
func (w *World) Requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// ServeHTTP implements http.Handler.
func (w *World) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(r.Host, ":")
	w.mu.Lock()
	w.asked = append(w.asked, name+" "+r.Method+" "+r.URL.Path)
	w.mu.Unlock()
	h := w.hosts[name]
	switch {
	case h == nil:
		http.NotFound(rw, r)
	case strings.HasPrefix(r.URL.Path, "/v2/"):
		h.registry.ServeHTTP(rw, r)
	case h.files[r.URL.Path] != nil:
		_, _ = rw.Write(h.files[r.URL.Path])
	case h.charts[strings.TrimSuffix(r.URL.Path, "/index.yaml")] != nil:
		_, _ = rw.Write(h.charts[strings.TrimSuffix(r.URL.Path, "/index.yaml")].index())
	case h.git != nil:
		h.git.ServeHTTP(rw, r)
	default:
		http.NotFound(rw, r)
	}
}
