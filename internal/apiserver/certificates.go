package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity is how long certificates are valid: longer than any server runs, since each start
// creates new ones.
const validity = 365 * 24 * time.Hour

// authority is the certificate authority of one run.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	now         time.Time
}

// pair is a certificate and its key, as PEM.
type pair struct{ certificate, key []byte }

func newAuthority(now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	a := &authority{key: key, now: now}
	template, err := a.template(pkix.Name{CommonName: "preadmit-sandbox"})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

func (a *authority) template(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: a.now.Add(-time.Minute), NotAfter: a.now.Add(validity),
	}, nil
}

// server returns the serving certificate.
func (a *authority) server() (pair, error) {
	template, err := a.template(pkix.Name{CommonName: "kube-apiserver"})
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	return a.sign(template)
}

// client returns a client certificate of a user.
func (a *authority) client(user string, groups ...string) (pair, error) {
	template, err := a.template(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(template)
}

func (a *authority) sign(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make a key: %w", err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("make the certificate of %s: %w", template.Subject.CommonName, err)
	}
	encoded, err := encodeKey(key)
	return pair{certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: encoded}, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// files are the paths of the server's certificates and keys.
type files struct{ authority, certificate, key, accounts string }

// write writes the server's certificates and keys into a directory that nobody else may enter.
func (a *authority) write(dir string) (files, error) {
	f := files{
		authority: filepath.Join(dir, "ca.crt"), certificate: filepath.Join(dir, "server.crt"),
		key: filepath.Join(dir, "server.key"), accounts: filepath.Join(dir, "service-accounts.key"),
	}
	server, err := a.server()
	if err != nil {
		return f, err
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, fmt.Errorf("make a key: %w", err)
	}
	encoded, err := encodeKey(accounts)
	return f, errors.Join(err,
		os.WriteFile(f.authority, a.pem, 0o600),
		os.WriteFile(f.certificate, server.certificate, 0o600),
		os.WriteFile(f.key, server.key, 0o600),
		os.WriteFile(f.accounts, encoded, 0o600),
	)
}
