package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// History is a git repository with the pull request 7:
//
//	Before - Base ------ Merge (refs/pull/7/merge)
//	     \              /
//	      Head --------- (refs/pull/7/head)
//
// The branch main is at Base.
type History struct {
	// Dir is the work tree, at Base.
	Dir string
	// Before, Base, Head and Merge are object names.
	Before, Base, Head, Merge string
}

// NewHistory creates the repository at dir. files are those of Before; Base adds others
// and Head adds change. All map paths to contents.
func NewHistory(dir string, files, others, change map[string]string) (*History, error) {
	h := &History{Dir: dir}
	if _, err := h.Git("init", "-q", "-b", "main", dir); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return h.commit(&h.Before, files) },
		func() error { return h.git("checkout", "-q", "-b", "change") },
		func() error { return h.commit(&h.Head, change) },
		func() error { return h.git("update-ref", "refs/pull/7/head", "HEAD") },
		func() error { return h.git("checkout", "-q", "main") },
		func() error { return h.commit(&h.Base, others) },
		func() error { return h.git("checkout", "-q", "--detach") },
		func() error { return h.git("merge", "-q", "--no-edit", "change") },
		func() error { return h.git("update-ref", "refs/pull/7/merge", "HEAD") },
		func() error { return h.git("checkout", "-q", "main") },
		func() error { return h.git("branch", "-q", "-D", "change") },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	merge, err := h.Git("rev-parse", "refs/pull/7/merge")
	h.Merge = merge
	return h, err
}

// Commit writes files to the work tree, commits them at HEAD and returns the commit's
// object name.
func (h *History) Commit(files map[string]string) (string, error) {
	for name, text := range files {
		full := filepath.Join(h.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return "", fmt.Errorf("write %s: %w", name, err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("write %s: %w", name, err)
		}
	}
	if err := h.git("add", "-A"); err != nil {
		return "", err
	}
	if err := h.git("commit", "-q", "--allow-empty", "-m", "A change"); err != nil {
		return "", err
	}
	return h.Git("rev-parse", "HEAD")
}

func (h *History) commit(name *string, files map[string]string) (err error) {
	*name, err = h.Commit(files)
	return err
}

func (h *History) git(args ...string) error {
	_, err := h.Git(args...)
	return err
}

// Git runs git in the work tree and returns its output, as Run does.
func (h *History) Git(args ...string) (string, error) {
	dir := h.Dir
	if args[0] == "init" {
		dir = ""
	}
	return Run(dir, "", nil, args...)
}

// Run runs git in dir without the configuration of the machine and of the user, with
// input as its standard input and env added to the environment. It returns the output
// without the last line break.
func Run(dir, input string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(out)), fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
