package gittree

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestIgnoredAsGit compares which files of a work tree generated patterns exclude with what git lists.
func TestIgnoredAsGit(t *testing.T) {
	dir, names := t.TempDir(), []string{}
	var fill func(prefix string, depth int)
	fill = func(prefix string, depth int) {
		for _, name := range []string{"a", "b"} {
			if depth == 0 {
				names = append(names, prefix+name)
			} else {
				names = append(names, prefix+name+".yaml")
				fill(prefix+name+"/", depth-1)
			}
		}
	}
	fill("", 4)
	files := map[string]string{}
	for _, name := range names {
		files[name] = name
	}
	runGit(t, dir, "init", "-q")
	write(t, dir, files)
	r := rand.New(rand.NewPCG(7, 7))
	segments := []string{"a", "b", "*", "**", "?", "a.yaml", "[!a]"}
	for range 100 {
		var rules []string
		for range 1 + r.IntN(2) {
			var of []string
			for range 1 + r.IntN(5) {
				of = append(of, segments[r.IntN(len(segments))])
			}
			rules = append(rules, strings.Join(of, "/")+[]string{"", "/"}[r.IntN(2)])
		}
		text := strings.Join(rules, "\n!") + "\n"
		if err := os.WriteFile(filepath.Join(dir, ".git/info/exclude"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for name := range strings.FieldsSeq(runGit(t, dir, "ls-files", "--others", "--exclude-standard")) {
			listed[name] = true
		}
		parsed := parseRules(".", []byte(text))
		for _, name := range names {
			if got := !excludedBelow(parsed, name); got != listed[name] {
				t.Errorf("%q: %s is listed: %v, by git %v", text, name, got, listed[name])
			}
		}
	}
}

// excludedBelow reports whether rules exclude a file or a directory above it.
func excludedBelow(rules []rule, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if excluded(rules, dir, true) {
			return true
		}
	}
	return excluded(rules, name, false)
}

// TestManyDirectoryWildcards matches a pattern for which trying all ways would take years.
func TestManyDirectoryWildcards(t *testing.T) {
	rules := parseRules(".", []byte(strings.Repeat("**/a/", 40)+"b\n"))
	if name := strings.Repeat("a/", 80) + "c"; excluded(rules, name, false) {
		t.Errorf("%s is excluded", name)
	}
	if name := strings.Repeat("a/", 80) + "b"; !excluded(rules, name, false) {
		t.Errorf("%s is not excluded", name)
	}
}
