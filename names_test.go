package preadmit_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamesInDocumentation: the Go files, packages, tests and benchmarks that the documentation
// names exist. A file may be named without its directory.
func TestNamesInDocumentation(t *testing.T) {
	known := namesOfSources(t)
	quoted := regexp.MustCompile("`[^`\n]+`")
	name := regexp.MustCompile(`^((Test|Fuzz|Benchmark)[A-Z]\w*|[\w./-]+\.go|(cmd|webhooks|report|scanner|render|internal|e2e)/[\w/-]+)$`)
	found := 0
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				for _, quote := range quoted.FindAllString(line, -1) {
					if n := strings.Trim(quote, "`"); name.MatchString(n) {
						found++
						if !known[strings.TrimSuffix(n, "/")] {
							t.Errorf("%s:%d: there is no %s", file, i+1, n)
						}
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("the documentation names %d sources, want more", found)
	}
}

// namesOfSources returns the files and directories of all modules of the repository, by path
// and by name, and the tests and benchmarks in them.
func namesOfSources(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (file != "." && strings.HasPrefix(file, ".") || file == "bin"):
			return filepath.SkipDir
		}
		known[filepath.ToSlash(file)] = true
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		known[path.Base(filepath.ToSlash(file))] = true
		source, err := os.ReadFile(file)
		for _, match := range function.FindAllSubmatch(source, -1) {
			known[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
