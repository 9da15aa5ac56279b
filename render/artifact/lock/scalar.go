package lock

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
)

// quoted returns a text as a YAML scalar: unquoted if every reader takes it for that string, or else as JSON, which is
// also YAML.
func quoted(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // keeps <, > and & in ranges of versions
	_ = encoder.Encode(text)     // a string
	return strings.TrimSuffix(b.String(), "\n")
}

// plain reports whether a text is a URL that every YAML reader takes for a string without quotes.
func plain(text string) bool {
	for _, scheme := range []string{"https://", "oci://", "ssh://"} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			return rest != "" && !strings.ContainsFunc(rest, func(r rune) bool { return !wordRune(r) && r != '/' })
		}
	}
	return false
}

func wordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// ignoreNotExist returns nil for an error that a file does not exist.
func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
