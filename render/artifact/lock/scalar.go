package lock

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
)

// quoted returns a text as a YAML scalar: as it is when it can only be that string, else as
// JSON, which YAML reads as well.
func quoted(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // >=1.0 <2
	_ = encoder.Encode(text)     // a string
	return strings.TrimSuffix(b.String(), "\n")
}

// plain reports whether a text is a plain scalar of YAML that every reader takes for a string:
// a URL, or a word that begins with a letter other than those of true, null and the like.
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

// nothing returns nil for the error of a file that is not there.
func nothing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
