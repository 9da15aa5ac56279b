package action

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tag is the release in the documentation.
const tag = "v0.1.0"

// repository is the top directory of this repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// archive is the name of the release's archive for this machine.
func archive() string {
	return fmt.Sprintf("preadmit_%s_%s_%s.tar.gz", strings.TrimPrefix(tag, "v"), runtime.GOOS, runtime.GOARCH)
}

// release creates a release of a program, and returns its directory and the checksum of
// the archive.
func release(t *testing.T, program string) (dir, checksum string) {
	t.Helper()
	dir = t.TempDir()
	if err := pack(filepath.Join(dir, archive()), program); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, archive()))
	if err != nil {
		t.Fatal(err)
	}
	checksum = fmt.Sprintf("%x", sha256.Sum256(data))
	text := strings.Repeat("0", 64) + "  preadmit_other.tar.gz\n" + checksum + "  " + archive() + "\n"
	if err := os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, checksum
}

// pack writes a program as preadmit to an archive.
func pack(path, program string) (err error) {
	in, err := os.Open(program)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "preadmit", Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return z.Close()
}

// searchPath returns PATH with the fake curl first.
func searchPath(t *testing.T) string {
	t.Helper()
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return "PATH=" + testdata + string(os.PathListSeparator) + os.Getenv("PATH")
}

// TestInstall: a program is run only if its archive has the expected checksums.
func TestInstall(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the runner of this test is one of Linux")
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho it is me\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, checksum := release(t, program)
	other := strings.Repeat("1", 64)
	tests := []struct {
		name, version, checksum, binary string
		want                            string // in the log of a failure, "" when it succeeds
	}{
		{name: "a release", version: "0.1.0"},
		{name: "a tag", version: tag},
		{name: "a checksum", version: tag, checksum: checksum},
		{name: "a program", binary: program},
		{name: "another checksum", version: tag, checksum: other, want: "does not have the checksum that the input tells"},
		{name: "no checksum", version: tag, checksum: "x; echo", want: "no SHA-256"},
		{name: "no release", version: "0.2.0", want: "curl: https://"},
		{name: "a branch", version: "main", want: "give the input version"},
		{name: "a commit", version: strings.Repeat("1", 40), want: "give the input version"},
		{name: "nothing", want: "give the input version"},
		{name: "a script", version: "1.2.3$(id)", want: "give the input version"},
		{name: "no program", binary: filepath.Join(dir, "checksums.txt"), want: "not a program"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			binary, log, err := install(t, dir, test.version, test.checksum, test.binary)
			switch {
			case test.want == "" && err != nil:
				t.Fatalf("%v:\n%s", err, log)
			case test.want == "":
				if out, err := exec.Command(binary).Output(); err != nil || string(out) != "it is me\n" {
					t.Errorf("the program says %q: %v", out, err)
				}
			case err == nil || !strings.Contains(log, test.want) || binary != "":
				t.Errorf("error %v, program %q, want %q in the log:\n%s", err, binary, test.want, log)
			}
		})
	}
	t.Run("a changed archive", func(t *testing.T) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho another\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := pack(filepath.Join(dir, archive()), program); err != nil {
			t.Fatal(err)
		}
		_, log, err := install(t, dir, tag, "", "")
		if err == nil || !strings.Contains(log, "does not have the checksum that its release tells") {
			t.Errorf("error %v:\n%s", err, log)
		}
	})
}

// install runs the script of the Action and returns the program that it names.
func install(t *testing.T, dir, version, checksum, binary string) (program, log string, err error) {
	t.Helper()
	output := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(output, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", filepath.Join(repository(t), "action", "install.sh"))
	arch := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	cmd.Env = []string{
		searchPath(t), "RUNNER_OS=Linux", "RUNNER_ARCH=" + arch, "RUNNER_TEMP=" + t.TempDir(), "GITHUB_OUTPUT=" + output,
		"VERSION=" + version, "CHECKSUM=" + checksum, "BINARY=" + binary, "E2E_RELEASE=" + dir, "E2E_TAG=" + tag,
	}
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(output)
	if readErr != nil {
		t.Fatal(readErr)
	}
	program, _ = strings.CutPrefix(strings.TrimSpace(string(text)), "binary=")
	return program, string(out), err
}
