package text

import "strings"

// snippetContext is the number of lines shown before and after a location.
const snippetContext = 2

// snippetLines is the maximum number of lines of a snippet.
const snippetLines = 12

// SnippetRange extends start to end by the context, within the document.
func SnippetRange(lines []string, start, end int) (first, last int) {
	end = min(end, start+snippetLines-2*snippetContext-1, len(lines))
	first, last = start, end
	for first > 1 && start-first < snippetContext && !IsSeparator(lines[first-2]) {
		first--
	}
	for last < len(lines) && last-end < snippetContext && !IsSeparator(lines[last]) {
		last++
	}
	return first, last
}

// IsSeparator reports whether a line separates documents, as in rendering: only a comment may
// follow `---`.
func IsSeparator(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	rest = strings.TrimSpace(rest)
	return ok && (rest == "" || rest[0] == '#')
}
