package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

// TestActionFetches: by default the Action fetches only what the base has locked, and nothing
// that a pull request adds. Credentials come from secrets, and the store is in the runner's cache.
func TestActionFetches(t *testing.T) {
	w := newElsewhere(t)
	w.secret = "Basic Ym90OnNlc2FtZQ==" // bot:sesame
	base := "resources:\n- URL/org/repo//base?ref=main\n- URL/private.yaml\n"
	h := w.repository(base)
	secrets := filepath.Join(t.TempDir(), "credentials.yaml")
	host := w.flags[3]
	if err := os.WriteFile(secrets, []byte("hosts: [{host: '"+host+"', username: bot, passwordEnv: PASSWORD}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.fetch(0, h.Dir, "--credentials", secrets)
	locked, err := os.ReadFile(filepath.Join(h.Dir, lock.FileName))
	if err != nil {
		t.Fatal(err)
	}
	f := newForgeOf(t, githubtest.Config{},
		githubtest.Files{lock.FileName: string(locked), "app/kustomization.yaml": strings.ReplaceAll(base, "URL", w.url)},
		githubtest.Files{"README.md": "x"},
		githubtest.Files{
			"app/kustomization.yaml":  "nameSuffix: -x\n" + strings.ReplaceAll(base, "URL", w.url),
			"more/kustomization.yaml": "resources:\n- " + w.url + "/file.yaml\n",
		})
	f.checkout(f.Merge)
	f.pullRequest()
	f.env["RUNNER_TOOL_CACHE"] = t.TempDir()
	f.env["INPUT_CA_FILE"], f.env["INPUT_PRIVATE_HOST"] = w.flags[1], host
	f.env["INPUT_CREDENTIALS"] = "ghcr.io other\n" + host + " bot sesame\n"
	stdout, stderr := f.action(0)
	has(t, stdout+stderr, "the base does not have it in its preadmit.lock", "4 requests")
	if kept, _ := filepath.Glob(filepath.Join(f.env["RUNNER_TOOL_CACHE"], "preadmit", "artifacts", "??", "*")); len(kept) != 2 {
		t.Errorf("kept %v", kept)
	}
	asked := w.asked
	f.env["INPUT_CREDENTIALS"] = ""
	stdout, _ = f.action(0)
	if has(t, stdout, "4 requests"); w.asked != asked {
		t.Error("what the runner kept is fetched again")
	}
	f.env["INPUT_ALLOW"] = w.url + "/file*"
	stdout, _ = f.action(0)
	has(t, stdout, "5 requests", "file.yaml was fetched and is in no lock that counts")
	f.env["INPUT_FETCH"], f.env["RUNNER_TOOL_CACHE"] = "off", t.TempDir()
	stdout, _ = f.action(0)
	has(t, stdout, "it is not in the cache; preadmit fetch gets it")
	f.env["INPUT_FETCH"], f.env["INPUT_CREDENTIALS"] = "locked", "one two three sesame"
	_, stderr = f.action(cli.ExitUsage)
	if has(t, stderr, "line 1: want HOST USERNAME PASSWORD"); strings.Contains(stderr, "sesame") {
		t.Errorf("a secret is told: %s", stderr)
	}
}
