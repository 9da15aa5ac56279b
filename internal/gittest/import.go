package gittest

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Import is input of git fast-import, which makes many commits in one process and takes files of
// any name.
type Import struct {
	w     *bufio.Writer
	marks int
}

// Write makes what write says in the repository at dir, and returns what was to be printed.
func Write(dir string, write func(*Import)) ([]string, error) {
	from, to := io.Pipe()
	go func() {
		in := &Import{w: bufio.NewWriter(to)}
		write(in)
		_, _ = in.w.WriteString("done\n") // a bufio.Writer keeps its error
		to.CloseWithError(in.w.Flush())
	}()
	printed, err := run(dir, from, keepMemory(), "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--force", "--done")
	from.CloseWithError(err) // ends the writer, if git ended before
	return strings.Fields(printed), err
}

// Commit begins a commit at a ref, which has the files of its first parent - the commit that the
// ref has in this input, if none is given - and then those that are put. It returns a mark, which
// is the commit's name in this input.
func (i *Import) Commit(ref string, when time.Time, parents ...string) (mark string) {
	i.marks++
	mark = fmt.Sprint(":", i.marks)
	fmt.Fprintf(i.w, "commit %s\nmark %s\ncommitter a <a@example.com> %d +0000\ndata 8\nA change\n", ref, mark, when.Unix())
	for n, parent := range parents {
		fmt.Fprintf(i.w, "%s %s\n", []string{"from", "merge"}[min(n, 1)], parent)
	}
	return mark
}

// Put writes a file, over one that is there.
func (i *Import) Put(name, data string) { i.put("100644", name, data) }

// Program writes a file that can be run.
func (i *Import) Program(name, data string) { i.put("100755", name, data) }

// Link makes a symbolic link.
func (i *Import) Link(name, target string) { i.put("120000", name, target) }

func (i *Import) put(mode, name, data string) {
	fmt.Fprintf(i.w, "M %s inline %s\ndata %d\n", mode, quote(name), len(data))
	_, _ = i.w.WriteString(data)
	_ = i.w.WriteByte('\n')
}

// Submodule makes a submodule at a commit of another repository.
func (i *Import) Submodule(name, commit string) {
	fmt.Fprintf(i.w, "M 160000 %s %s\n", commit, quote(name))
}

// Remove removes a file.
func (i *Import) Remove(name string) { fmt.Fprintf(i.w, "D %s\n", quote(name)) }

// Print has git print the names of commits, a line each.
func (i *Import) Print(marks ...string) {
	for _, mark := range marks {
		fmt.Fprintf(i.w, "get-mark %s\n", mark)
	}
}

// keepMemory returns settings of glibc that keep memory which is freed. git frees a quarter of
// a megabyte for each object that it writes, and most of its time goes into giving that back to
// the kernel, page by page.
func keepMemory() []string {
	return []string{"MALLOC_TRIM_THRESHOLD_=268435456", "MALLOC_MMAP_THRESHOLD_=268435456"}
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
