//go:build unix

package cli

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/preadmit/preadmit/report/format"
)

// TestWriteFileModes: a new file has the mode that the umask leaves, an existing one keeps
// its own, and a private one is readable by the user alone in any case.
func TestWriteFileModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	text := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	outputs := func(name string) func(string, func(io.Writer) error) error {
		return func(path string, _ func(io.Writer) error) error {
			all := Outputs{{Format: "text", path: toStdout}, {Format: name, path: path}}
			return all.Write(Process{Stdout: io.Discard, Getenv: os.Getenv}, &OutputFlags{Private: "json"},
				func(w io.Writer, _ string, _ format.Options) error { return text(w) })
		}
	}
	for _, test := range []struct {
		name        string
		write       func(string, func(io.Writer) error) error
		before, now fs.FileMode // before is 0 for no file
	}{
		{"new", WriteFile, 0, 0o640},
		{"existing", WriteFile, 0o600, 0o600},
		{"existing of all", WriteFile, 0o666, 0o666},
		{"private", WritePrivateFile, 0, 0o600},
		{"private, existing", WritePrivateFile, 0o644, 0o600},
		{"output", outputs("sarif"), 0, 0o640},
		{"output with Secrets", outputs("json"), 0o644, 0o600},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if test.before != 0 {
			if err := os.WriteFile(path, []byte("old"), test.before); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, test.before); err != nil {
				t.Fatal(err)
			}
		}
		if err := test.write(path, text); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != test.now {
			t.Errorf("%s: the file has mode %o, want %o", test.name, got, test.now)
		}
		if got, _ := os.ReadFile(path); string(got) != "new" {
			t.Errorf("%s: the file has %q", test.name, got)
		}
	}
}
