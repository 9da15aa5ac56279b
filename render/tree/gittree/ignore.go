package gittree

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// rule is one line of an exclude file, as gitignore(5) defines them.
type rule struct {
	dir      string // the directory of the file that holds the rule
	segments []string
	negated  bool
	dirOnly  bool
	// anchored is set if the pattern has a slash, so that it matches the path below dir, not just the name.
	anchored bool
}

// excludes returns the rules of .git/info/exclude.
func (r *Repository) excludes() []rule {
	data, err := os.ReadFile(filepath.Join(r.location.common, "info", "exclude"))
	if err != nil {
		return nil
	}
	return parseRules(".", data)
}

func parseRules(dir string, data []byte) []rule {
	var rules []rule
	for line := range strings.Lines(string(data)) {
		if r, ok := parseRule(dir, strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(dir, line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	r := rule{dir: dir}
	line = trimTrailingSpace(line)
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return rule{}, false
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
	r.segments = strings.Split(line, "/")
	return r, true
}

// trimTrailingSpace removes trailing spaces unless they are escaped.
func trimTrailingSpace(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// excluded reports whether the last matching rule excludes name. The directories above name are known not to be
// excluded.
func excluded(rules []rule, name string, isDir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(name, isDir) {
			return !rules[i].negated
		}
	}
	return false
}

func (r rule) matches(name string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.dir != "." {
		rel, ok := strings.CutPrefix(name, r.dir+"/")
		if !ok {
			return false
		}
		name = rel
	}
	if !r.anchored {
		return matchSegment(r.segments[0], path.Base(name))
	}
	return matchSegments(r.segments, strings.Split(name, "/"))
}

// matchSegments matches a pattern against a whole path. `**` matches any number of directories, and at the end
// everything below. Only the last `**` before a mismatch is tried with more directories: what is between two of
// them matches as early as possible.
func matchSegments(pattern, name []string) bool {
	var after, from []string // the pattern after the last **, and the path where it was tried
	for len(name) > 0 {
		switch {
		case len(pattern) > 0 && pattern[0] == "**":
			if pattern = pattern[1:]; len(pattern) == 0 {
				return true
			}
			after, from = pattern, name
		case len(pattern) > 0 && matchSegment(pattern[0], name[0]):
			pattern, name = pattern[1:], name[1:]
		case after != nil:
			from = from[1:]
			pattern, name = after, from
		default:
			return false
		}
	}
	return len(pattern) == 0
}

func matchSegment(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
