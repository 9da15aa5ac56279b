package flux

import (
	"bufio"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"

	"github.com/preadmit/preadmit/render/tree"
)

// DefaultIgnore are the default patterns, in the format of a source's spec.ignore. They always apply to an
// ExternalArtifact.
var DefaultIgnore = strings.ReplaceAll(strings.Join([]string{sourceignore.ExcludeExt, sourceignore.ExcludeCI, sourceignore.ExcludeExtra}, "\n"), ",", "\n")

// pattern is a pattern of a .sourceignore file, with the path elements in it.
type pattern struct {
	gitignore.Pattern
	names []string
	// domain is the path of the directory at and below which the pattern applies, as a list of names.
	domain []string
}

// parsePatterns parses patterns as source-controller does. They apply at and below a directory.
func parsePatterns(text string, domain []string) (patterns []pattern) {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			patterns = append(patterns, parsePattern(line, domain))
		}
	}
	return patterns
}

func parsePattern(text string, domain []string) pattern {
	p := pattern{Pattern: gitignore.ParsePattern(text, domain), domain: domain}
	name := strings.TrimPrefix(text, "!")
	if !strings.HasSuffix(name, `\ `) {
		name = strings.TrimRight(name, " ")
	}
	names := strings.Split(strings.TrimSuffix(name, "/"), "/")
	for _, name := range names {
		if len(names) == 1 || name != "" && name != "**" { // "**" and empty names alone match nothing
			p.names = append(p.names, name)
		}
	}
	return p
}

// patternsOf returns the patterns of lists, in the format of the library's constants.
func patternsOf(lists ...string) (patterns []pattern) {
	for _, list := range lists {
		for text := range strings.SplitSeq(list, ",") {
			patterns = append(patterns, parsePattern(text, nil))
		}
	}
	return patterns
}

// ignoreFiles returns the patterns of all .sourceignore files of a tree. Those of a directory come before those of the
// directories below it.
func ignoreFiles(t *tree.Tree) (patterns []pattern, err error) {
	err = fs.WalkDir(t.Fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir // discovery reports the error
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() || entry.Name() != sourceignore.IgnoreFile || !entry.Type().IsRegular():
			return nil
		}
		data, err := t.Read(name)
		if err != nil {
			return err
		}
		patterns = append(patterns, parsePatterns(string(data), domain(path.Dir(name)))...)
		return nil
	})
	return patterns, err
}

// domain returns the elements of a directory's path.
func domain(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// matcher matches paths with patterns as the library does. For speed, it remembers for each name whether a pattern may
// match it: most paths have no such name.
type matcher struct {
	library gitignore.Matcher
	names   []string
	// known maps names of files and directories to whether a pattern may match them.
	known sync.Map
}

func newMatcher(patterns []pattern) *matcher {
	m := &matcher{}
	var of []gitignore.Pattern
	for _, p := range patterns {
		of = append(of, p.Pattern)
		m.names = append(m.names, p.names...)
	}
	m.library = gitignore.NewMatcher(of)
	return m
}

// matches reports whether the patterns exclude a path.
func (m *matcher) matches(name string, isDir bool) bool {
	if !m.mayMatch(name) {
		return false
	}
	return m.library.Match(strings.Split(name, "/"), isDir)
}

// mayMatch reports whether a pattern may match an element of a path. Otherwise no pattern matches the path.
func (m *matcher) mayMatch(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		known, ok := m.known.Load(part)
		if !ok {
			known = m.isNamed(part)
			m.known.Store(part, known)
		}
		if known.(bool) {
			return true
		}
	}
	return false
}

func (m *matcher) isNamed(part string) bool {
	for _, name := range m.names {
		if ok, err := filepath.Match(name, part); ok || err != nil {
			return true
		}
	}
	return false
}
