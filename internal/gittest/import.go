package gittest

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Import writes input of git fast-import, which creates many commits in one process and accepts files
// of any name.
type Import struct {
	w     *bufio.Writer
	marks int
}

// Write imports what write writes into the repository at dir, and returns the printed names.
func Write(dir string, write func(*Import)) ([]string, error) {
	from, to := io.Pipe()
	go func() {
		in := &Import{w: bufio.NewWriter(to)}
		write(in)
		_, _ = in.w.WriteString("done\n") // Flush returns the error
		to.CloseWithError(in.w.Flush())
	}()
	printed, err := run(dir, from, keepMemory(), "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--force", "--done")
	from.CloseWithError(err) // ends the writer if git ended first
	return strings.Fields(printed), err
}

// Commit begins a commit at a ref. It has the files of its first parent - by default the last commit at
// the ref in this input - and those that are put afterwards. It returns a mark, which is the commit's
// name in this input.
func (i *Import) Commit(ref string, when time.Time, parents ...string) (mark string) {
	i.marks++
	mark = fmt.Sprint(":", i.marks)
	fmt.Fprintf(i.w, "commit %s\nmark %s\ncommitter a <a@example.com> %d +0000\ndata 8\nA change\n", ref, mark, when.Unix())
	for n, parent := range parents {
		fmt.Fprintf(i.w, "%s %s\n", []string{"from", "merge"}[min(n, 1)], parent)
	}
	return mark
}

// Put writes a file, and replaces an existing one.
func (i *Import) Put(name, data string) { i.put("100644", name, data) }

// Program writes an executable file.
func (i *Import) Program(name, data string) { i.put("100755", name, data) }

// Link writes a symbolic link.
func (i *Import) Link(name, target string) { i.put("120000", name, target) }

func (i *Import) put(mode, name, data string) {
	fmt.Fprintf(i.w, "M %s inline %s\ndata %d\n", mode, quote(name), len(data))
	_, _ = i.w.WriteString(data)
	_ = i.w.WriteByte('\n')
}

// Submodule writes a submodule at a commit of another repository.
func (i *Import) Submodule(name, commit string) {
	fmt.Fprintf(i.w, "M 160000 %s %s\n", commit, quote(name))
}

// Remove removes a file.
func (i *Import) Remove(name string) { fmt.Fprintf(i.w, "D %s\n", quote(name)) }

// Print makes git print the names of commits, one per line.
func (i *Import) Print(marks ...string) {
	for _, mark := range marks {
		fmt.Fprintf(i.w, "get-mark %s\n", mark)
	}
}

// keepMemory returns settings of glibc that make it keep freed memory. git frees a quarter of a
// megabyte for each object that it writes, and would spend most of its time on returning that to
// the kernel, page by page.
func keepMemory() []string {
	return []string{"MALLOC_TRIM_THRESHOLD_=268435456", "MALLOC_MMAP_THRESHOLD_=268435456"}
}

// quote quotes a path in git's format.
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
