package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
)

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	index := `[
		{"source": "https://example.com/charts/", "name": "web", "version": "1.0.0", "file": "a.tgz"},
		{"source": "https://example.com/charts", "name": "web", "version": "1.2.0", "file": "b.tgz"},
		{"source": "oci://example.com/charts/web", "name": "web", "version": "1.0.0", "requestedVersion": "1.x", "file": "c.tgz"},
		{"source": "oci://example.com/charts/api", "name": "api", "version": "1.2.0+build.3", "file": "a.tgz"},
		{"source": "oci://example.com/charts/api", "name": "api", "version": "1.2.0+build.4", "file": "b.tgz"},
		{"source": "oci://example.com/charts/old", "name": "old", "version": "1.2.0_build.3", "file": "c.tgz"},
		{"source": "https://example.com/api", "name": "api", "version": "1.2.0+build.3", "file": "a.tgz"},
		{"source": "https://example.com/bad", "name": "web", "version": "1.0.0", "file": "a.tgz", "sha256": "00"},
		{"source": "https://example.com/none", "name": "web", "version": "1.0.0", "file": "none.tgz"}
	]`
	for name, text := range map[string]string{store.IndexName: index, "a.tgz": "a", "b.tgz": "b", "c.tgz": "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := store.OpenDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, name, version, want string }{
		{"https://example.com/charts", "web", "1.0.0", "a"},
		{"https://example.com/charts/", "web", "1.2.0", "b"},
		{"https://example.com/charts", "web", "", "b"},
		{"https://example.com/charts", "web", ">=1.0.0 <1.1.0", "a"},
		{"https://example.com/charts", "web", "2.x", "does not list it; add the archive"},
		{"https://example.com/charts", "api", "1.0.0", "does not list it"},
		{"oci://example.com/charts", "web", "1.x", "c"},
		{"oci://example.com/charts", "web", "1.0.0", "c"},
		{"oci://example.com/charts", "api", "1.2.0+build.3", "a"},
		{"oci://example.com/charts", "api", "1.2.0_build.3", "a"},
		{"oci://example.com/charts", "api", "1.2.0_build.4", "b"},
		{"oci://example.com/charts", "api", "1.2.0_build.5", "b"}, // as any of 1.2.0
		{"oci://example.com/charts", "old", "1.2.0+build.3", "c"},
		{"https://example.com/api", "api", "1.2.0+build.3", "a"},
		{"https://example.com/api", "api", "1.2.0_build.3", "does not list it"},
		{"https://example.com/bad", "web", "1.0.0", "has the SHA-256"},
		{"https://example.com/none", "web", "1.0.0", "lists none.tgz, which is not in"},
	} {
		data, _, err := d.Bytes(artifact.Artifact{Kind: artifact.Chart, URL: test.url, Name: test.name, Version: test.version})
		got := string(data)
		if err != nil {
			got = err.Error()
		}
		if got != test.want && !(err != nil && strings.Contains(got, test.want)) {
			t.Errorf("%+v: %s", test, got)
		}
	}
	if _, _, err := d.Bytes(artifact.Artifact{Kind: artifact.Chart, URL: "https://example.com/x", Name: "x"}); !errors.As(err, new(*artifact.MissingError)) {
		t.Errorf("error %v", err)
	}
	for _, text := range []string{`{}`, `[{"source": "https://example.com", "name": "a", "file": "../a"}]`, `[{"name": "a", "file": "a"}]`} {
		if err := os.WriteFile(filepath.Join(dir, store.IndexName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := store.OpenDirectory(dir); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}
