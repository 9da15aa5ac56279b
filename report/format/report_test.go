package format_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A golden is one way to write a report. The output is compared with the file NAME+suffix;
// the reports are testdata/NAME.json.
var goldens = []struct {
	suffix, format string
	opts           format.Options
}{
	{".txt", "text", format.Options{}},
	{".verbose.txt", "text", format.Options{Verbose: true, Width: 100}},
	{".quiet.txt", "text", format.Options{Quiet: true}},
	{".color.txt", "text", format.Options{Color: true}},
	{".sarif", "sarif", format.Options{}},
	{".out.json", "json", format.Options{}},
	{".md", "markdown", format.Options{}},
	{".junit.xml", "junit", format.Options{}},
	{".github.txt", "github", format.Options{}},
}

func TestGolden(t *testing.T) {
	for _, name := range reports(t) {
		r := read(t, name)
		for _, g := range goldens {
			t.Run(name+g.suffix, func(t *testing.T) {
				got := write(t, g.format, r, g.opts)
				golden(t, filepath.Join("testdata", name+g.suffix), got)
			})
		}
	}
}

// golden compares output with a file, or writes the file with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// reports returns the names of the reports in testdata.
func reports(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	if len(names) < 7 {
		t.Fatalf("testdata holds only %q", names)
	}
	return names
}

func read(t testing.TB, name string) *report.Report {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", f.Name(), err)
	}
	return r
}

func write(t testing.TB, name string, r *report.Report, opts format.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := format.Write(&b, name, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zero is the default: no colour, 80 columns.
var zero format.Options

func reader(doc []byte) *bytes.Reader { return bytes.NewReader(doc) }

func TestUnknownFormatListsTheKnown(t *testing.T) {
	err := format.Write(&bytes.Buffer{}, "yaml", read(t, "one"), zero)
	if want := `unknown format "yaml", want one of ` + strings.Join(format.Formats(), ", "); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestFormatsAreAllWritten(t *testing.T) {
	r := read(t, "many")
	for _, f := range format.Formats() {
		if len(write(t, f, r, zero)) == 0 {
			t.Errorf("%s writes nothing", f)
		}
	}
}

// brokenPipe is a writer that fails like a closed pipe.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReturned(t *testing.T) {
	for _, f := range format.Formats() {
		if err := format.Write(brokenPipe{}, f, read(t, "many"), zero); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: got %v, want %v", f, err, os.ErrClosed)
		}
	}
}

// TestWriteIsPure: nothing is modified, and equal reports give equal bytes.
func TestWriteIsPure(t *testing.T) {
	for _, name := range reports(t) {
		r := read(t, name)
		for _, g := range goldens {
			first := write(t, g.format, r, g.opts)
			if !bytes.Equal(first, write(t, g.format, r, g.opts)) {
				t.Errorf("%s%s differs when written again", name, g.suffix)
			}
		}
		if diff := cmp.Diff(read(t, name), r); diff != "" {
			t.Errorf("%s was modified (-want +got):\n%s", name, diff)
		}
	}
}

// TestCoverageIsEverywhere: every format for people has the number of objects with exact
// verdicts.
func TestCoverageIsEverywhere(t *testing.T) {
	r := &report.Report{Summary: report.Summary{Requests: 9, Coverage: &report.Coverage{Objects: 9, Exact: 7}}}
	for _, name := range []string{"text", "markdown", "html", "sarif", "junit"} {
		var b bytes.Buffer
		if err := format.Write(&b, name, r, format.Options{Width: 120}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "7 of 9 objects judged exactly") {
			t.Errorf("%s does not say what was judged exactly:\n%s", name, b.String())
		}
	}
}
