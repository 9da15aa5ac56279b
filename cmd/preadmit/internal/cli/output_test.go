package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report/format"
)

func TestWriteFileKeepsTheOldOnFailure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := WriteFile(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file holds %q, want what it held", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left behind, want the old one alone", len(entries))
	}
}

// TestATerminalIsNotGivenText: with an output file in another format, a terminal gets no text.
func TestATerminalIsNotGivenText(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no terminal: %v", err)
	}
	defer terminal.Close()
	pipe, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	for _, tt := range []struct {
		output, format string
		stdout         *os.File
		want           []string
	}{
		{"r.sarif", "", terminal, []string{"sarif"}},
		{"r.txt", "", terminal, []string{"text", "text"}},
		{"r.sarif", "text", terminal, []string{"sarif", "text"}},
		{"r.sarif", "", pipe, []string{"sarif", "text"}},
		{"", "", terminal, []string{"text"}},
	} {
		f := NewOutputFlags([]string{"text", "sarif"})
		f.Given = func(name string) bool { return name == "format" && tt.format != "" }
		if tt.output != "" {
			f.Outputs.Values = []string{filepath.Join(t.TempDir(), tt.output)}
		}
		all, err := f.ParseOutputs()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var said strings.Builder
		p := Process{Stdout: tt.stdout, Stderr: &said, Getenv: func(string) string { return "" }}
		err = all.Write(p, &f, func(_ io.Writer, name string, _ format.Options) error {
			got = append(got, name)
			return nil
		})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%+v: wrote %q, %v", tt, got, err)
		}
		if len(tt.want) == 1 && tt.output != "" && !strings.Contains(said.String(), "wrote ") {
			t.Errorf("%+v: said %q", tt, said.String())
		}
	}
}
