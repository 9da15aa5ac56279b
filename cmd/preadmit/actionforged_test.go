package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/internal/gittest"
)

// TestActionForgedBase: a pull request adds a bare repository to the judged directory,
// with a branch named like the base commit. It must not be used as the base.
func TestActionForgedBase(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	// The forged base has the objects of the pull request, so that they would not be new.
	app := filepath.Join(f.env["GITHUB_WORKSPACE"], "app")
	forged := gittest.History{Dir: app}
	for _, args := range [][]string{
		{"init", "-q", "--bare", app}, {"fetch", "-q", "--depth=1", f.remote(), f.Merge},
		{"update-ref", "refs/heads/" + f.Base, f.Merge},
	} {
		if _, err := forged.Git(args...); err != nil {
			t.Fatal(err)
		}
	}
	f.pullRequest()
	f.env["INPUT_PATH"] = "app"
	_, stderr := f.action(cli.ExitFindings)
	f.want("findings", f.findings(), changeFindings())
	if !strings.Contains(stderr, "base is "+f.Base+" (main), head is "+f.Merge) {
		t.Errorf("stderr:\n%s", stderr)
	}
}

// TestActionStaleMergeWithBase: a merge commit of another head is not judged, also with
// the input base.
func TestActionStaleMergeWithBase(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	f.checkout(f.Merge)
	f.env["INPUT_BASE"] = "main"
	f.pullRequest()
	_, stderr := f.action(cli.ExitFindings, "--sarif")
	if !strings.Contains(stderr, "base is "+f.Base+" (main), head is "+f.Merge) {
		t.Errorf("stderr:\n%s", stderr)
	}
	if _, err := f.Git("checkout", "-q", "--detach", f.Head); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.Head, err = f.Commit(githubtest.Files{"app/newer.yaml": configMap("newer", "deny")}); err != nil {
		t.Fatal(err)
	}
	f.pullRequest()
	stdout, stderr := f.action(cli.ExitFindings)
	f.want("findings", f.findings(), append(changeFindings(), "newer new Deny"))
	if !strings.Contains(stdout, "is not the merge of the pull request's head") || !strings.Contains(stderr, "base is "+f.Before+" (main), head is "+f.Head) {
		t.Errorf("nothing says so:\n%s\n%s", stdout, stderr)
	}
}
