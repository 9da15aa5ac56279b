package action

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// maxImage is the maximum size of the image's files, in bytes.
const maxImage = 125_000_000

// imageConfig has the used fields of an image's configuration
// (github.com/opencontainers/image-spec).
type imageConfig struct {
	Config struct {
		User       string
		Env        []string
		Entrypoint []string
		WorkingDir string
		Labels     map[string]string
	}
}

// TestImage checks the image that `make image` built, and runs its program with only the
// files and the user of the image.
func TestImage(t *testing.T) {
	archive := filepath.Join(repository(t), "bin", "preadmit.oci.tar")
	if _, err := os.Stat(archive); err != nil {
		t.Skip("there is no image: make image builds it")
	}
	blobs := readArchive(t, archive)
	config, root, files := unpack(t, blobs)

	if diff := cmp.Diff([]string{"preadmit", "repository", "tmp"}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/preadmit"}) || config.Config.WorkingDir != "/repository" {
		t.Errorf("configuration %+v", config.Config)
	}
	for _, label := range []string{"title", "description", "source", "licenses", "version", "revision", "created"} {
		if text := config.Config.Labels["org.opencontainers.image."+label]; text == "" || strings.Contains(text, "$") {
			t.Errorf("label %s is %q", label, text)
		}
	}
	info, err := os.Stat(filepath.Join(root, "preadmit"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the program has %d bytes", info.Size())
	if info.Size() > maxImage {
		t.Errorf("the program has %d bytes, want %d at most", info.Size(), maxImage)
	}
	if os.Getuid() != 0 {
		t.Skip("only root may change the root directory")
	}
	runImage(t, root, config)
}

// runImage runs a scan, and the Action without a checkout.
func runImage(t *testing.T, root string, config *imageConfig) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, "repository", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("policies.yaml", policies)
	write("old.yaml", configMap("old", "deny"))
	if out := enter(t, root, config, nil, 1, "scan"); !strings.Contains(out, "the key deny is denied") {
		t.Errorf("scan says:\n%s", out)
	}
	r := newServers(t, githubtest.Config{})
	write("event.json", fmt.Sprintf(`{"pull_request": {"number": 7, "head": {"sha": %q}, "base": {"sha": %q, "ref": "main"}}}`, r.Head, r.Before))
	out := enter(t, root, config, []string{
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=/repository/event.json", "GITHUB_SHA=" + r.Merge,
		"GITHUB_REF=refs/pull/7/merge", "GITHUB_REPOSITORY=octo/shop", "GITHUB_WORKSPACE=/repository",
		"GITHUB_SERVER_URL=" + r.git.URL, "GITHUB_API_URL=" + strings.TrimSuffix(r.api.URL, "/"), "GITHUB_TOKEN=" + token,
	}, 1, "action", "--comment")
	if !strings.Contains(out, "file=app/new.yaml,line=5") || len(r.api.Comments()) != 1 {
		t.Errorf("action says, with %d comments:\n%s", len(r.api.Comments()), out)
	}
}

// enter runs the image's program with the files and the user that a container would have.
func enter(t *testing.T, root string, config *imageConfig, env []string, code int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), config.Config.Entrypoint[0], args...)
	cmd.Dir = config.Config.WorkingDir
	cmd.Env = append(slices.Clone(config.Config.Env), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%s: %v, want exit code %d:\n%s", args, err, code, out)
	}
	return string(out)
}

// readArchive reads the files of an OCI archive.
func readArchive(t *testing.T, file string) map[string][]byte {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	blobs := map[string][]byte{}
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return blobs
		}
		if err != nil {
			t.Fatal(err)
		}
		if blobs[path.Clean(header.Name)], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// unpack extracts an image's layers to a directory. files are the names at the top level.
func unpack(t *testing.T, blobs map[string][]byte) (config *imageConfig, root string, files []string) {
	t.Helper()
	type descriptor struct{ Digest string }
	decode := func(name string, into any) {
		if err := json.Unmarshal(blobs[name], into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	blob := func(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode("index.json", &index)
	decode(blob(index.Manifests[0]), &manifest)
	config = &imageConfig{}
	decode(blob(manifest.Config), config)
	root = t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, layer := range manifest.Layers {
		unpackLayer(t, blobs[blob(layer)], root)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
	}
	return config, root, files
}

func unpackLayer(t *testing.T, layer []byte, root string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := unpackFile(root, header, r); err != nil {
			t.Fatal(err)
		}
	}
}

func unpackFile(root string, header *tar.Header, r io.Reader) error {
	name := path.Clean(header.Name)
	if !fs.ValidPath(name) {
		return fmt.Errorf("the layer has a file %q", header.Name)
	}
	full := filepath.Join(root, name)
	if header.Typeflag == tar.TypeDir {
		if err := os.MkdirAll(full, 0o755); err != nil {
			return err
		}
	} else {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(full, data, 0o600); err != nil {
			return err
		}
	}
	return os.Chmod(full, header.FileInfo().Mode())
}
