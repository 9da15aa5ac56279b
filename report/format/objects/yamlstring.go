package objects

import (
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report/format/escape"
)

// word is text that YAML 1.1 and 1.2 read as a string without quotes: the words that
// mean something else have five letters at most. It never changes.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./:-]{5,98}[A-Za-z0-9]$`)

// yamlString writes a string in one line: plain where every reader takes that for
// the string, else in double quotes.
func yamlString(s string) string {
	if word.MatchString(s) || plainEverywhere(s) {
		return s
	}
	return escape.Guard(strconv.QuoteToGraphic(s)) // Go's escapes mean the same in YAML
}

// plainEverywhere asks the readers of YAML 1.1 and 1.2 what they take a string for,
// as a key and as a value.
func plainEverywhere(s string) bool {
	if s == "" || len(s) > longKey || escape.Text(s) != s || escape.Guard(s) != s {
		return false
	}
	document := []byte(s + ": " + s + "\n")
	for _, read := range []func([]byte, any) error{yaml3.Unmarshal, unmarshal11} {
		var got map[string]any
		if read(document, &got) != nil || len(got) != 1 || got[s] != s {
			return false
		}
	}
	return true
}

func unmarshal11(document []byte, into any) error { return yaml.Unmarshal(document, into) }

// literal splits text of several lines for a block scalar. The header is empty for
// what is not shown that way: one line, what would not be safe to print, and
// what needs more than a plain header.
func literal(s string) (header string, lines []string) {
	body, newline := strings.CutSuffix(s, "\n")
	lines = strings.Split(body, "\n")
	if len(lines) == 1 && !newline {
		return "", nil
	}
	first, last := lines[0], lines[len(lines)-1]
	if first == "" || first[0] == ' ' || first[0] == '\t' || strings.TrimSpace(last) == "" {
		return "", nil
	}
	for _, line := range lines {
		if tabless := strings.ReplaceAll(line, "\t", " "); escape.Text(tabless) != tabless || escape.Guard(line) != line {
			return "", nil
		}
	}
	if newline {
		return "|", lines
	}
	return "|-", lines
}
