package scanner

import (
	"bytes"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// snippetContext is the number of lines shown before and after a location.
const snippetContext = 2

// snippetLines is the most lines a snippet has.
const snippetLines = 12

// texts keeps the lines of files that snippets are cut from, secrets masked.
type texts struct {
	mu    sync.Mutex
	files map[textKey][]string
}

type textKey struct {
	side *side
	path string
}

func newTexts() *texts { return &texts{files: map[textKey][]string{}} }

func (t *texts) lines(from *side, path string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := textKey{from, path}
	lines, ok := t.files[key]
	if !ok {
		// A file that cannot be read again just has no snippet.
		if data, err := fs.ReadFile(from.tree.FS, path); err == nil {
			lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
			if bytes.Contains(data, []byte("Secret")) || bytes.Contains(data, []byte("secret")) {
				lines = maskFile(lines)
			}
		}
		t.files[key] = lines
	}
	return lines
}

// addSnippet sets the lines around a location. The snippet stays inside the YAML
// document, since the next one may be a Secret; everything about a Secret object is
// masked wherever it was written.
func (l *locator) addSnippet(loc *Location, from *side, path string, secret bool) {
	lines := l.texts.lines(from, path)
	if loc.StartLine < 1 || loc.StartLine > len(lines) {
		return
	}
	first, last := snippetRange(lines, loc.StartLine, max(loc.StartLine, loc.EndLine))
	for _, line := range lines[first-1 : last] {
		line = strings.TrimSuffix(line, "\r")
		if secret {
			line = maskLine(line)
		}
		loc.Snippet = append(loc.Snippet, line)
	}
	loc.SnippetLine = first
}

// snippetRange widens start to end by the context, within its document.
func snippetRange(lines []string, start, end int) (first, last int) {
	end = min(end, start+snippetLines-2*snippetContext-1, len(lines))
	first, last = start, end
	for first > 1 && start-first < snippetContext && !isSeparator(lines[first-2]) {
		first--
	}
	for last < len(lines) && last-end < snippetContext && !isSeparator(lines[last]) {
		last++
	}
	return first, last
}

func isSeparator(line string) bool {
	return line == "---" || strings.HasPrefix(line, "--- ") || strings.TrimRight(line, " \t\r") == "---"
}

const mask = "***"

// maskFile masks what is secret in a YAML file: data and stringData of documents of
// kind Secret, and the entries of secretGenerator.
func maskFile(lines []string) []string {
	out := make([]string, 0, len(lines))
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && !isSeparator(lines[end]) {
			end++
		}
		out = append(out, maskDocument(lines[start:end])...)
		start = end
	}
	return out
}

func maskDocument(lines []string) []string {
	isSecret := false
	for _, line := range lines {
		isSecret = isSecret || secretKind.MatchString(line)
	}
	block := ""
	out := make([]string, len(lines))
	for i, line := range lines {
		if m := topKey.FindStringSubmatch(line); m != nil {
			block = m[1]
		}
		out[i] = line
		if block == "secretGenerator" || isSecret && !topKeep.MatchString(line) {
			out[i] = maskLine(line)
		}
	}
	return out
}

// maskLine hides the value of a line but for keys that are never secret. A line
// without a key is a continued value.
func maskLine(line string) string {
	body := strings.TrimLeft(line, " -\t")
	indent := line[:len(line)-len(body)]
	key, value, ok := cutValue(body)
	switch {
	case body == "" || body[0] == '#' || isSeparator(line):
		return line
	case !ok:
		return indent + mask
	case value == "" || harmlessKey.MatchString(key):
		return line
	}
	return indent + key + mask
}

// cutValue cuts a line behind `key: `, `key:` or `KEY=`.
func cutValue(body string) (key, value string, ok bool) {
	m := keyPrefix.FindString(body)
	if m == "" {
		return "", "", false
	}
	return m, strings.TrimSpace(body[len(m):]), true
}

var (
	secretKind  = regexp.MustCompile(`(^|[\s{,])"?kind"?:\s*["']?Secret["']?\s*([,}#]|$)`)
	topKey      = regexp.MustCompile(`^["']?([A-Za-z]+)["']?:`)
	topKeep     = regexp.MustCompile(`^(apiVersion|kind|metadata|type|immutable):\s*[^{]*$`)
	keyPrefix   = regexp.MustCompile(`^["']?[A-Za-z0-9_.\-/]+["']?(:\s*$|:\s+|=)`)
	harmlessKey = regexp.MustCompile(`^["']?(apiVersion|kind|name|namespace|type|behavior|literals|files|envs|options|metadata|data|stringData)["']?:\s*$`)
)
