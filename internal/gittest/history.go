package gittest

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
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

// NewHistory creates the repository at dir. Before has files; Base adds others and Head adds
// change. All map paths to contents.
func NewHistory(dir string, files, others, change map[string]string) (*History, error) {
	h := &History{Dir: dir}
	if err := Init(dir, "main"); err != nil {
		return nil, err
	}
	names, err := Write(dir, func(in *Import) {
		in.history(files, others, change)
	})
	if err != nil {
		return nil, err
	}
	h.Before, h.Base, h.Head = names[0], names[1], names[2]
	if h.Merge, err = h.merge(); err != nil {
		return nil, err
	}
	return h, h.git("reset", "-q", "--hard")
}

// history writes all commits except Merge.
func (i *Import) history(files, others, change map[string]string) {
	now := time.Now()
	before := i.Commit("refs/heads/main", now)
	i.all(files)
	base := i.Commit("refs/heads/main", now)
	i.all(others)
	head := i.Commit("refs/pull/7/head", now, before)
	i.all(change)
	i.Print(before, base, head)
}

// merge creates Merge and returns its name.
func (h *History) merge() (string, error) {
	merge, err := Merge(h.Dir, h.Base, h.Head, "Merge", time.Now())
	if err != nil {
		return "", err
	}
	return merge, h.git("update-ref", "refs/pull/7/merge", merge)
}

func (i *Import) all(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		i.Put(name, files[name])
	}
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

func (h *History) git(args ...string) error {
	_, err := h.Git(args...)
	return err
}

// Git runs git in the work tree and returns its output, like Run.
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
	return run(dir, strings.NewReader(input), env, args...)
}

func run(dir string, input io.Reader, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, input
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // it would start a process each time
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(out)), fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
