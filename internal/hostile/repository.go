package hostile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tree writes the files of a commit, as commands for git fast-import, which takes any
// name.
type Tree struct {
	w *bufio.Writer
}

// Put writes a file, over one that is there.
func (t *Tree) Put(name, data string) { t.put("100644", name, data) }

// Link makes a symbolic link.
func (t *Tree) Link(name, target string) { t.put("120000", name, target) }

func (t *Tree) put(mode, name, data string) {
	fmt.Fprintf(t.w, "M %s inline %s\ndata %d\n", mode, quote(name), len(data))
	_, _ = t.w.WriteString(data)
	_ = t.w.WriteByte('\n')
}

// quote returns a path in the quotes of git.
func quote(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// Pull is a pull request in a repository.
type Pull struct {
	// Dir is a bare git repository with the branches main and pull.
	Dir string
	// Base and Head are the names of commits.
	Base, Head string
}

// Make makes the repository of a case in a directory that does not exist yet. It runs git.
func (c *Case) Make(ctx context.Context, dir string, canary *Canary) (*Pull, error) {
	if _, err := git(ctx, "", nil, "init", "--quiet", "--bare", "--initial-branch=main", dir); err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	go func() { to.CloseWithError(c.write(to, canary)) }()
	if _, err := git(ctx, dir, from, "fast-import", "--quiet"); err != nil {
		return nil, errors.Join(err, from.CloseWithError(err))
	}
	p := &Pull{Dir: dir}
	var errs [2]error
	p.Base, errs[0] = git(ctx, dir, nil, "rev-parse", "main")
	p.Head, errs[1] = git(ctx, dir, nil, "rev-parse", "pull")
	return p, errors.Join(errs[:]...)
}

// write writes both commits.
func (c *Case) write(to io.Writer, canary *Canary) error {
	t := &Tree{w: bufio.NewWriter(to)}
	t.commit("main", 1, "")
	base(t)
	t.commit("pull", 2, "from :1\n")
	c.head(t, canary)
	if _, err := t.w.WriteString("done\n"); err != nil {
		return err
	}
	return t.w.Flush()
}

func (t *Tree) commit(branch string, mark int, from string) {
	fmt.Fprintf(t.w, "commit refs/heads/%s\nmark :%d\ncommitter Nobody <nobody@example.com> 1700000000 +0000\ndata 1\nx\n%s", branch, mark, from)
}

// keepMemory returns settings of glibc that keep memory which is freed. git frees a quarter of
// a megabyte for each object that it writes, and most of its time goes into giving that back to
// the kernel, page by page.
func keepMemory() []string {
	return []string{"MALLOC_TRIM_THRESHOLD_=268435456", "MALLOC_MMAP_THRESHOLD_=268435456"}
}

// git runs git without configuration and returns what it prints.
func git(ctx context.Context, dir string, in io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + searchPath(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + filepath.Clean("/nonexistent")}, keepMemory()...)
	var out, problem bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, problem.String())
	}
	return strings.TrimSpace(out.String()), nil
}
