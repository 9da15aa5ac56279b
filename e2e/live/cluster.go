package live

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/preadmit/preadmit/internal/freeport"
)

// startTimeout is how long a program may take to be ready.
const startTimeout = 2 * time.Minute

// Cluster is etcd with its two API servers.
type Cluster struct {
	// Setup evaluates no admission policies. Tested is the server under test; it has the
	// default plugins except ServiceAccount, which needs the controller manager.
	Setup, Tested *Server

	binaries Binaries
	dir      string
	etcd     *process
	etcdURL  string
	started  int
}

// Start starts a cluster with its data in dir, which must exist. The caller must call Stop,
// also after an error.
func Start(ctx context.Context, b Binaries, dir string) (*Cluster, error) {
	c := &Cluster{binaries: b, dir: dir}
	if err := c.writeFiles(); err != nil {
		return c, err
	}
	if err := c.startEtcd(ctx); err != nil {
		return c, err
	}
	var err error
	if c.Setup, err = c.startServer(ctx, "--disable-admission-plugins=ServiceAccount,MutatingAdmissionPolicy,ValidatingAdmissionPolicy"); err != nil {
		return c, err
	}
	return c, c.RestartTested(ctx)
}

// RestartTested replaces the server under test by a new one, which has no state in memory,
// such as the kinds of params that it resolved or could not resolve.
func (c *Cluster) RestartTested(ctx context.Context) error {
	c.Tested.stop()
	var err error
	c.Tested, err = c.startServer(ctx, "--disable-admission-plugins=ServiceAccount")
	return err
}

// StartWithAccounts replaces the server under test by one that has the ServiceAccount plugin too.
func (c *Cluster) StartWithAccounts(ctx context.Context) error {
	c.Tested.stop()
	var err error
	c.Tested, err = c.startServer(ctx, "--enable-admission-plugins=ServiceAccount")
	return err
}

// Stop stops all programs.
func (c *Cluster) Stop() {
	c.Tested.stop()
	c.Setup.stop()
	c.etcd.stop()
}

// Files that all servers share.
const (
	keyFile    = "service-account.key"
	tokensFile = "tokens.csv"
	auditFile  = "audit.yaml"
)

// auditPolicy records the annotations of requests that change objects.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, delete]
- level: None
`

func (c *Cluster) writeFiles() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode a key: %w", err)
	}
	return errors.Join(
		c.write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
		c.write(tokensFile, []byte(adminToken+`,system:admin,,"system:masters"`+"\n")),
		c.write(auditFile, []byte(auditPolicy)),
	)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) write(name string, data []byte) error {
	return os.WriteFile(c.path(name), data, 0o600)
}

// host is the address on which etcd and the API servers listen.
const host = "127.0.0.1"

func (c *Cluster) startEtcd(ctx context.Context) error {
	port, err := freeport.Find()
	if err != nil {
		return err
	}
	peerPort, err := freeport.Find()
	if err != nil {
		return err
	}
	c.etcdURL = fmt.Sprintf("http://%s:%d", host, port)
	peerURL := fmt.Sprintf("http://%s:%d", host, peerPort)
	c.etcd, err = start("etcd", c.binaries.Etcd, nil,
		"--data-dir="+c.path("etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL, "--initial-cluster=default="+peerURL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return c.etcd.await(ctx, func(ctx context.Context) error { return healthy(ctx, c.etcdURL+"/health") })
}

func healthy(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// startServer starts an API server. plugins is its flag for the admission plugins.
func (c *Cluster) startServer(ctx context.Context, plugins string) (*Server, error) {
	port, err := freeport.Find()
	if err != nil {
		return nil, err
	}
	c.started++
	s := &Server{
		url: fmt.Sprintf("https://%s:%d", host, port), version: builtFrom(c.binaries.APIServer),
		certificates: c.path(fmt.Sprintf("server-%d", c.started)), audit: newAuditLog(), resources: map[string][]resource{},
	}
	s.process, err = start("kube-apiserver", c.binaries.APIServer, s.audit,
		"--etcd-servers="+c.etcdURL, "--bind-address="+host, fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+s.certificates,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+c.path(keyFile), "--service-account-key-file="+c.path(keyFile),
		"--authorization-mode=RBAC", "--token-auth-file="+c.path(tokensFile), plugins,
		"--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true", "--endpoint-reconciler-type=none",
		"--audit-policy-file="+c.path(auditFile), "--audit-log-path=-", "--audit-log-mode=blocking")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return s, s.process.await(ctx, s.ready)
}

// Version returns the version of the server under test, such as v1.36.3.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	if v := c.Tested.version; v != "" {
		return v, nil
	}
	var info struct{ GitVersion string }
	if err := c.Tested.get(ctx, "/version", &info); err != nil {
		return "", fmt.Errorf("ask for the server's version: %w", err)
	}
	version, _, _ := strings.Cut(info.GitVersion, "+")
	return version, nil
}
