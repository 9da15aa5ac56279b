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

// DefaultIgnore are the patterns of the defaults, in the format of a source's spec.ignore. They
// count in an ExternalArtifact whatever else does.
var DefaultIgnore = strings.ReplaceAll(strings.Join([]string{sourceignore.ExcludeExt, sourceignore.ExcludeCI, sourceignore.ExcludeExtra}, "\n"), ",", "\n")

// pattern is one of a .sourceignore file, and the names that it puts together to paths.
type pattern struct {
	gitignore.Pattern
	names []string
	// domain is the directory at and below which the pattern counts, as its names.
	domain []string
}

// parsePatterns reads patterns as source-controller does: those of a text count at and below a
// directory.
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
		if len(names) == 1 || name != "" && name != "**" { // these do not make a match by themselves
			p.names = append(p.names, name)
		}
	}
	return p
}

// patternsOf are those of a list as the library has it.
func patternsOf(lists ...string) (patterns []pattern) {
	for _, list := range lists {
		for text := range strings.SplitSeq(list, ",") {
			patterns = append(patterns, parsePattern(text, nil))
		}
	}
	return patterns
}

// ignoreFiles are the patterns of all .sourceignore files of a tree: those of a directory go
// before those of the directories below it.
func ignoreFiles(t *tree.Tree) (patterns []pattern, err error) {
	err = fs.WalkDir(t.Fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir // discovery says so
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

// domain are the names of a directory's path.
func domain(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// matcher matches paths with patterns as the library does. Of most paths no name is in any
// pattern, which is found out once for each name.
type matcher struct {
	library gitignore.Matcher
	names   []string
	// known are names of files and directories: whether a pattern may be of them.
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

// matches reports whether the patterns leave out what is at a path.
func (m *matcher) matches(name string, isDir bool) bool {
	if !m.mayMatch(name) {
		return false
	}
	return m.library.Match(strings.Split(name, "/"), isDir)
}

// mayMatch reports whether a pattern names a part of a path: else none matches it.
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
