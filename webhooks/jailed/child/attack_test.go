package child

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/hostile"
	"github.com/preadmit/preadmit/internal/outside"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/webhooks/artifacts"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// TestOutsideAttacks checks that when roots need artifacts from internal addresses, or without an end,
// a jailed scan reports each root with the reason at its line, the internal server receives no request,
// and nothing is stored.
func TestOutsideAttacks(t *testing.T) {
	var mu sync.Mutex
	heard := ""
	internal := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		heard += r.URL.Path
	}))
	t.Cleanup(internal.Close)
	server := httptest.NewTLSServer(outside.Hostile(internal.URL))
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())

	l, pin := &lock.Lock{}, artifact.Pin{Digest: "sha256:" + strings.Repeat("0", 64)}
	wants := make([]string, len(outside.Attacks()))
	base, head := map[string]string{"plain/pod.yaml": remotePod}, map[string]string{}
	root := func(i int) string { return fmt.Sprintf("a%02d/kustomization.yaml", i) }
	all := outside.Attacks()
	for i, attack := range all {
		a := artifact.Artifact{Kind: artifact.File, URL: strings.ReplaceAll(attack.URL, "$HOSTILE", server.URL)}
		locked, entry := pin, a.URL
		if attack.Git {
			a.Kind, a.Version, locked.Commit, entry = artifact.Git, "main", strings.Repeat("0", 40), a.URL+"//?ref=main"
		}
		if a.Check() == nil { // otherwise no lock can contain it
			l.Set(a, locked)
			wants[i] = attack.WantError
		}
		base[root(i)] = "resources: [../plain]\n"
		head[root(i)] = "resources:\n- '" + entry + "'\n"
	}
	base[lock.FileName] = string(l.Encode())
	h := &gittest.History{Dir: t.TempDir()}
	if _, err := h.Git("init", "-q", "-b", "main", h.Dir); err != nil {
		t.Fatal(err)
	}
	pull := &hostile.Pull{Dir: h.Dir}
	var err error
	if pull.Base, err = h.Commit(base); err == nil {
		pull.Head, err = h.Commit(head)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "artifacts")
	s := testScanner(t, jailed.Limits{})
	s.Fetcher = artifacts.New(artifacts.Config{Dir: kept, Size: int64(4*len(all)) << 20, Options: fetch.Options{
		RootCAs: pool, Hosts: []string{strings.TrimPrefix(server.URL, "https://")},
		// All attacks run at the same time: even together their answers are less than half of Size, which is the limit of one
		// scan, so that endless ones do not take it from the others.
		Limits: fetch.Limits{Time: 2 * time.Second, Stall: 300 * time.Millisecond, Answer: 1 << 20, Content: 1 << 20},
	}})
	outcome, err := s.Scan(context.Background(), requestOf(pull), nil)
	if err != nil || len(outcome.Died) > 0 {
		t.Fatal(err, outcome)
	}
	for i, attack := range all {
		var said []string
		for _, entry := range outcome.Report.Indeterminate {
			if entry.Location != nil && entry.Location.Path == root(i) && entry.Location.StartLine == 2 && !entry.Untouched {
				said = append(said, entry.Why)
			}
		}
		if !slices.ContainsFunc(said, contains(wants[i])) {
			t.Errorf("%s: %q, want %q", attack.Name, said, wants[i])
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if heard != "" {
		t.Errorf("the internal server was asked for %s", heard)
	}
	_ = filepath.WalkDir(kept, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", name)
		}
		return nil
	})
}
