package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/githubtest"
)

// gitlabJob has the used fields of the job for GitLab.
type gitlabJob struct {
	Variables            map[string]string
	BeforeScript, Script []string
	Artifacts            struct{ Reports map[string]string }
}

func readGitLabJob(t *testing.T) *gitlabJob {
	t.Helper()
	text := readTop(t, filepath.Join("cmd", "preadmit", "internal", "initialize", "files", "gitlab.yaml"))
	if !strings.Contains(readTop(t, filepath.Join("docs", "ci.md")), "```yaml\n"+text+"```\n") {
		t.Error("docs/ci.md has another job than preadmit init writes")
	}
	var document struct {
		Preadmit struct {
			Variables    map[string]string
			BeforeScript []string `yaml:"before_script"`
			Script       []string
			Artifacts    struct{ Reports map[string]string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	d := document.Preadmit
	return &gitlabJob{d.Variables, d.BeforeScript, d.Script, d.Artifacts}
}

// TestGitLabJob runs the job for GitLab in a shell, as its runner would: it downloads the
// program of a release, and the declared reports have the findings of a merge request.
func TestGitLabJob(t *testing.T) {
	job := readGitLabJob(t)
	f := newForge(t, githubtest.Config{})
	bin := t.TempDir()
	writeRelease(t, bin, job.Variables["PREADMIT_VERSION"])
	steps := strings.Join(append(job.BeforeScript, job.Script...), "\n")
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(steps, "/usr/local/bin", bin))
	cmd.Dir = f.Dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CI_PROJECT_DIR="+f.Dir,
		"CI_MERGE_REQUEST_DIFF_BASE_SHA="+f.Base, "CI_COMMIT_SHA="+f.Head)
	for name, value := range job.Variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitFindings {
		t.Fatalf("%v, want exit code %d:\n%s", err, cli.ExitFindings, out)
	}
	var entries []struct {
		Severity string
		Location struct{ Path string }
	}
	data, err := os.ReadFile(filepath.Join(f.Dir, job.Artifacts.Reports["codequality"]))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || entries[0].Severity != "critical" || entries[0].Location.Path != "app/new.yaml" {
		t.Errorf("the Code Quality report is %s", data)
	}
	if data, err := os.ReadFile(filepath.Join(f.Dir, job.Artifacts.Reports["junit"])); err != nil || !bytes.Contains(data, []byte("<failure")) {
		t.Errorf("the JUnit report is %s, %v", data, err)
	}
}

// writeRelease writes a fake wget, which serves the files of a release, to a directory.
func writeRelease(t *testing.T, bin, version string) {
	t.Helper()
	program, err := exec.LookPath("preadmit")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", program)
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "preadmit", Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	_, err = w.Write([]byte(script))
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	served := t.TempDir()
	name := "preadmit_" + version + "_linux_amd64.tar.gz"
	base := "https://github.com/preadmit/preadmit/releases/download/v" + version + "/"
	for file, text := range map[string]string{
		filepath.Join(served, name):            archive.String(),
		filepath.Join(served, "checksums.txt"): fmt.Sprintf("%x  %s\n%x  other\n", sha256.Sum256(archive.Bytes()), name, sha256.Sum256(nil)),
		filepath.Join(bin, "wget"):             "#!/bin/sh\nshift\nfor url; do cp \"" + served + "/${url#" + base + "}\" .; done\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPipelines: the commands of preadmit in docs/ci.md have flags that exist.
func TestPipelines(t *testing.T) {
	text := regexp.MustCompile(`\n\s+-o `).ReplaceAllString(readTop(t, filepath.Join("docs", "ci.md")), " -o ")
	commands := regexp.MustCompile(`preadmit"? (scan .*-o .*)`).FindAllStringSubmatch(text, -1)
	for _, command := range commands {
		cmd, rest, err := newRootCommand(cli.Process{}).Find(strings.Fields(strings.ReplaceAll(command[1], `"`, "")))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || cmd.Name() != "scan" || cmd.Flags().NArg() > 0 {
			t.Errorf("%s: %v", command[0], err)
		}
	}
	if len(commands) != 3 {
		t.Errorf("%d commands, want those of GitLab, Bitbucket and Azure: %q", len(commands), commands)
	}
}
