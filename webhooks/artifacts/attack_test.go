package artifacts

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/internal/outside"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// TestAttacks checks that artifacts in the base's lock are not fetched from internal addresses, or
// without a limit, and that nothing of them is stored.
func TestAttacks(t *testing.T) {
	heard := ""
	internal := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard += r.URL.Path }))
	t.Cleanup(internal.Close)
	server := httptest.NewTLSServer(outside.Hostile(internal.URL))
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	w := &world{t: t, config: Config{Dir: filepath.Join(t.TempDir(), "artifacts"), Options: fetch.Options{
		RootCAs: pool, Hosts: []string{strings.TrimPrefix(server.URL, "https://")},
		Limits: fetch.Limits{Time: 2 * time.Second, Stall: 300 * time.Millisecond},
	}}}
	l, pin := &lock.Lock{}, artifact.Pin{Digest: "sha256:" + strings.Repeat("0", 64)}
	var lacks []jailed.Lack
	all := outside.Attacks()
	for _, attack := range all {
		a := artifact.Artifact{Kind: artifact.File, URL: strings.ReplaceAll(attack.URL, "$HOSTILE", server.URL)}
		locked := pin
		if attack.Git {
			a.Kind, a.Version, locked.Commit = artifact.Git, "main", strings.Repeat("0", 40)
		}
		lacks = append(lacks, jailed.Lack{Artifact: a})
		if a.Check() == nil { // otherwise no lock can contain it
			l.Set(a, locked)
		}
	}
	w.config.Size = 4 << 20
	g, there, err := New(w.config).Begin(context.Background(), w.request(map[string]string{lock.FileName: string(l.Encode())}, nil))
	if err != nil || len(there) > 0 {
		t.Fatal(there, err)
	}
	for i, got := range g.Fetch(context.Background(), lacks) {
		_, locked := l.Find(lacks[i].Artifact)
		if got.Why == "" || locked && !strings.Contains(got.Why, all[i].WantError) {
			t.Errorf("%s: %q, want %q", all[i].Name, got.Why, all[i].WantError)
		}
	}
	g.End()
	if heard != "" {
		t.Errorf("the internal server was asked for %s", heard)
	}
	_ = filepath.WalkDir(w.config.Dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", name)
		}
		return nil
	})
}
