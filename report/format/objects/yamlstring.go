package objects

import (
	"regexp"
	"strconv"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report/format/escape"
)

// word matches text that YAML 1.1 and 1.2 read as a string without quotes: words with
// another meaning have at most five letters. It never changes.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./:-]{5,98}[A-Za-z0-9]$`)

// yamlString returns a string as YAML in one line: without quotes if every parser reads that
// as the string, else in double quotes.
func yamlString(s string) string {
	if word.MatchString(s) || plainEverywhere(s) {
		return s
	}
	return escape.Guard(strconv.QuoteToGraphic(s)) // Go's escapes have the same meaning in YAML
}

// plainEverywhere reports whether parsers of YAML 1.1 and 1.2 read s without quotes as the
// string s, as a key and as a value.
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

// literal returns the header and the lines of a block scalar. The header is empty for text
// that is not written that way: a single line, text that is not safe to print, and text
// that needs an indentation indicator or keeps trailing lines.
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
