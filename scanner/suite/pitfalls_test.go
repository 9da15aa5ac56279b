package suite

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pitfalls is the number of rows of docs/pitfalls.md.
const pitfalls = 88

const repository = "../.."

var (
	pitfallRow   = regexp.MustCompile(`^\| (\d+) \| .* \| ([^|]*) \|$`)
	pitfallFound = regexp.MustCompile(`\((` + "`Test[A-Za-z0-9]+`" + `)\)`)
	quoted       = regexp.MustCompile("`([^`]+)`")
	goTest       = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestPitfalls reads docs/pitfalls.md: every pitfall is there, in order, and every
// request, test and script it names exists.
func TestPitfalls(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "docs", "pitfalls.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := shown(t)
	check := func(where, names string) {
		found := quoted.FindAllStringSubmatch(names, -1)
		if len(found) == 0 {
			t.Errorf("%s names no test", where)
		}
		for _, name := range found {
			if !known[name[1]] {
				t.Errorf("%s names %s, which does not exist", where, name[1])
			}
		}
	}
	next := 1
	for _, line := range strings.Split(string(text), "\n") {
		if row := pitfallRow.FindStringSubmatch(line); row != nil {
			if row[1] != strconv.Itoa(next) {
				t.Errorf("row %s where %d is due", row[1], next)
			}
			next++
			check("row "+row[1], row[2])
		} else if names := pitfallFound.FindStringSubmatch(line); names != nil {
			check(line, names[1])
		}
	}
	if next != pitfalls+1 {
		t.Errorf("%d rows, want %d", next-1, pitfalls)
	}
}

// shown is what the page may name: requests and refused policies of the recorded
// suites, Go tests, and scenarios and scripts.
func shown(t *testing.T) map[string]bool {
	known := map[string]bool{}
	suites, err := filepath.Glob("testdata/conformance/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range suites {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Requests {
			known[filepath.Base(dir)+"/"+s.Requests[i].Name] = true
		}
		for _, e := range s.Expected.PolicyErrors {
			known[filepath.Base(dir)+"/"+e.Name] = true
		}
	}
	err = filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(path, ".txtar"):
			known[filepath.Base(path)] = true
		case strings.HasSuffix(path, "_test.go"):
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, name := range goTest.FindAllStringSubmatch(string(source), -1) {
				known[name[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
