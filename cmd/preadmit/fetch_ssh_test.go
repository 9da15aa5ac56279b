package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/outside"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

// TestFetchSSH: remote bases are fetched over SSH with the key of their host.
func TestFetchSSH(t *testing.T) {
	root := t.TempDir()
	if _, err := gittest.NewHistory(filepath.Join(root, "org", "repo"), map[string]string{
		"base/kustomization.yaml": "resources: [pod.yaml]\n", "base/pod.yaml": remotePod,
	}, map[string]string{"a": "b"}, map[string]string{"c": "d"}); err != nil {
		t.Fatal(err)
	}
	server, err := gittest.NewSSHServer(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	world := outside.New()
	world.AddSSH("git.example.com", server.Address)
	if err := world.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	own := &gittest.History{Dir: t.TempDir()}
	if _, err := own.Git("init", "-q", "-b", "main", own.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Commit(map[string]string{
		"app/kustomization.yaml": "resources:\n- git@git.example.com:org/repo//base?ref=main\n",
		"two/kustomization.yaml": "nameSuffix: -two\nresources:\n- ssh://git@git.example.com/org/repo//base?ref=main\n",
	}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("good.yaml", "hosts:\n- host: git.example.com\n  sshKeyEnv: KEY\n  hostKeys: ['"+server.HostKey+"']\n")
	run := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		getenv := func(name string) string { return map[string]string{"KEY": server.Key}[name] }
		p := cli.Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: getenv, Dial: world.Dial}
		if got := Main(t.Context(), append(args, "--artifact-dir", filepath.Join(dir, "store")), p); got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out.String())
		}
		if strings.Contains(out.String(), "PRIVATE KEY") {
			t.Errorf("%s prints the key", args)
		}
		return out.String()
	}
	has(t, run(3, "fetch", own.Dir), "no key is configured for SSH to git.example.com", "2 artifacts, 2 failed")
	has(t, run(2, "fetch", "--credentials", write("bad.yaml", "hosts:\n- host: git.example.com\n  sshKeyEnv: KEY\n"), own.Dir), "bad.yaml:3:", "which keys does the host have?")
	if len(server.Requests()) > 0 {
		t.Errorf("the host was connected to without a key: %q", server.Requests())
	}
	has(t, run(0, "fetch", "--credentials", good, own.Dir), "locked git git@git.example.com:org/repo, version main", "2 artifacts, 0 failed")
	asked := len(server.Requests())
	has(t, run(0, "render", filepath.Join(own.Dir, "app")), "name: remote")
	has(t, run(0, "scan", "--offline", own.Dir), "2 requests")
	if now := len(server.Requests()); now != asked {
		t.Errorf("%d requests were made without fetching", now-asked)
	}
	has(t, run(0, "fetch", "--check", "--credentials", good, own.Dir), "2 artifacts, 0 not as locked")
	if _, err := os.Stat(filepath.Join(own.Dir, lock.FileName)); err != nil {
		t.Error(err)
	}
}
