package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/outside"
)

// TestFetchAttacks: artifacts that are internal or endless are not fetched, and each is reported
// at its line. Package fetch tests the slow attacks.
func TestFetchAttacks(t *testing.T) {
	heard := ""
	internal := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard += r.URL.Path }))
	t.Cleanup(internal.Close)
	server := httptest.NewTLSServer(outside.Hostile(internal.URL))
	t.Cleanup(server.Close)
	dir, ca, kept := t.TempDir(), filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "kept")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	var attacks []outside.Attack
	for _, a := range outside.Attacks() {
		if a.Slow {
			continue
		}
		url := strings.ReplaceAll(a.URL, "$HOSTILE", server.URL)
		if a.Git {
			url += "?ref=main"
		}
		root := filepath.Join(dir, fmt.Sprintf("a%02d", len(attacks)))
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "kustomization.yaml"), []byte("resources:\n- '"+url+"'\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		attacks = append(attacks, a)
	}
	var out bytes.Buffer
	code := Main(t.Context(), []string{"fetch", "--artifact-dir", kept, "--ca-file", ca, "--private-host", strings.TrimPrefix(server.URL, "https://"), dir},
		cli.Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }})
	if code != cli.ExitIncomplete {
		t.Errorf("exit code %d", code)
	}
	for i, a := range attacks {
		line := ""
		for each := range strings.Lines(out.String()) {
			if strings.Contains(each, fmt.Sprintf("used at a%02d/kustomization.yaml:2:3", i)) {
				line = each
			}
		}
		if !strings.HasPrefix(line, "failed") || !strings.Contains(line, a.WantError) {
			t.Errorf("%s: %q, want %q", a.Name, line, a.WantError)
		}
	}
	if heard != "" {
		t.Errorf("the internal server was asked for %s", heard)
	}
	for _, top := range []string{kept, dir} {
		_ = filepath.WalkDir(top, func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && d.Name() != "kustomization.yaml" {
				t.Errorf("%s is left", name)
			}
			return nil
		})
	}
}
