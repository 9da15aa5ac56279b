package release

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

// TestConfiguration: GoReleaser accepts .goreleaser.yaml, which has all parts of a release:
// programs without C, checksums, SBOMs, and the repository, so that it needs no remote.
func TestConfiguration(t *testing.T) {
	project, err := config.LoadReader(bytes.NewReader(configuration(t)))
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for i, b := range project.Builds {
		programs = append(programs, b.Binary)
		if strings.Join(b.Env, " ") != "CGO_ENABLED=0" {
			t.Errorf("%s is built with %q, want a static program", b.Binary, b.Env)
		}
		if i >= len(project.Archives) || !slices.Equal(project.Archives[i].IDs, []string{b.ID}) {
			t.Errorf("%s has no archive of its own", b.Binary)
		}
	}
	if !slices.Equal(programs, []string{"preadmit", "preadmit-sandbox"}) {
		t.Errorf("a release has the programs %q", programs)
	}
	if project.Checksum.Algorithm != "sha256" || len(project.SBOMs) == 0 || !project.Release.Draft {
		t.Errorf("checksums by %s, %d SBOMs, draft: %t; want sha256, SBOMs and a draft", project.Checksum.Algorithm, len(project.SBOMs), project.Release.Draft)
	}
	if got := project.Release.GitHub.String(); got != "preadmit/preadmit" {
		t.Errorf("releases go to %q", got)
	}
}

// TestMistakes: mistakes that GoReleaser would refuse are refused here.
func TestMistakes(t *testing.T) {
	for _, mistake := range []struct{ old, new string }{
		{"goarch:", "goarchs:"},
		{"algorithm: sha256", "algorithm: [sha256]"},
		{"draft: true", "draft: often"},
		{"sboms:", "sbom:"},
	} {
		text := configuration(t)
		broken := bytes.Replace(text, []byte(mistake.old), []byte(mistake.new), 1)
		if bytes.Equal(broken, text) {
			t.Fatalf("%q is not in the configuration", mistake.old)
		}
		if _, err := config.LoadReader(bytes.NewReader(broken)); err == nil {
			t.Errorf("%q instead of %q is accepted", mistake.new, mistake.old)
		}
	}
}

func configuration(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
