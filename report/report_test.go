package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A golden is one way to write a report, compared with the file NAME+suffix. The
// reports themselves are testdata/NAME.json.
var goldens = []struct {
	suffix, format string
	opts           report.Options
}{
	{".txt", "text", report.Options{}},
	{".verbose.txt", "text", report.Options{Verbose: true, Width: 100}},
	{".quiet.txt", "text", report.Options{Quiet: true}},
	{".color.txt", "text", report.Options{Color: true}},
	{".sarif", "sarif", report.Options{}},
	{".out.json", "json", report.Options{}},
}

func TestGolden(t *testing.T) {
	for _, name := range reports(t) {
		r := read(t, name)
		for _, g := range goldens {
			t.Run(name+g.suffix, func(t *testing.T) {
				got := write(t, g.format, r, g.opts)
				file := filepath.Join("testdata", name+g.suffix)
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
			})
		}
	}
}

// reports names the reports in testdata.
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

func read(t testing.TB, name string) *scanner.Report {
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

func write(t testing.TB, format string, r *scanner.Report, opts report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
