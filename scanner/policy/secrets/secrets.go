// Package secrets removes the values of Secrets from texts and values.
package secrets

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/preadmit/preadmit/scanner/admission"
)

// Hidden replaces values of Secrets in messages.
const Hidden = "***"

// lastApplied is the annotation in which kubectl keeps the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Tokens replaces the values of Secrets by tokens that occur nowhere else, so that a message computed
// from tokens shows which parts it quotes: equal words of the policy remain, and the shortest value
// is found. Equal values have equal tokens.
type Tokens struct {
	// tokens maps values, as text, to tokens.
	tokens map[string]string
	// back maps each token, as text and as base64, to its value.
	back map[string]string
}

// New returns the tokens for the Secrets among contents; nil if these have no values.
func New(contents ...map[string]any) *Tokens {
	s := &Tokens{tokens: map[string]string{}, back: map[string]string{}}
	for _, c := range contents {
		if IsSecret(c) {
			s.Apply(c)
		}
	}
	if len(s.tokens) == 0 {
		return nil
	}
	return s
}

// Apply returns the content of a Secret with its values replaced. The content of another kind, or without
// tokens, is returned unchanged.
func (s *Tokens) Apply(content map[string]any) map[string]any {
	if s == nil || !IsSecret(content) {
		return content
	}
	sealed := maps.Clone(content)
	for _, field := range []string{"data", "stringData"} {
		if values, ok := content[field].(map[string]any); ok {
			sealed[field] = s.values(values, field == "data")
		}
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if kept, ok := annotations[lastApplied].(string); ok && kept != "" {
		annotations, metadata = maps.Clone(annotations), maps.Clone(metadata)
		annotations[lastApplied], metadata["annotations"] = s.token(kept), annotations
		sealed["metadata"] = metadata
	}
	return sealed
}

// values replaces the values of a map, in the order of their keys, so that equal Secrets have equal
// tokens. Values that are empty or no text are unchanged.
func (s *Tokens) values(values map[string]any, encoded bool) map[string]any {
	sealed := maps.Clone(values)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, ok := values[key].(string)
		if !ok || text == "" {
			continue
		}
		if plain, err := base64.StdEncoding.DecodeString(text); encoded && err == nil {
			token := base64.StdEncoding.EncodeToString([]byte(s.token(string(plain))))
			s.back[token], sealed[key] = text, token
			continue
		}
		sealed[key] = s.token(text)
	}
	return sealed
}

// token returns the token of a value: characters of a private use area, which no text contains. It
// differs from the value in its length, and in the lengths of its base64 and of the padding.
func (s *Tokens) token(value string) string {
	if s.tokens[value] == "" {
		token := fmt.Sprintf("\ue5ec%d\ue5ed", len(s.tokens))
		if len(token)%3 == len(value)%3 {
			token += "."
		}
		for base64.StdEncoding.EncodedLen(len(token)) == base64.StdEncoding.EncodedLen(len(value)) ||
			utf8.RuneCountInString(token) == utf8.RuneCountInString(value) {
			token += "\ue5ee"
		}
		s.tokens[value], s.back[token] = token, value
	}
	return s.tokens[value]
}

// Redact returns text without the values that it quotes. again is the value of the same expression
// for sealed content. If the text contains values in another form than quoted as a whole, it returns
// the beginning and the end that both texts have in common, which do not depend on the values.
func (s *Tokens) Redact(text, again string) string {
	if text == again {
		return text
	}
	redacted, restored := again, again
	for _, token := range slices.Sorted(maps.Keys(s.back)) {
		redacted = strings.ReplaceAll(redacted, token, Hidden)
		restored = strings.ReplaceAll(restored, token, s.back[token])
	}
	if strings.TrimSpace(restored) == text {
		return strings.TrimSpace(redacted)
	}
	return common(text, again)
}

// common returns the beginning and the end that two texts have in common, in whole words, with Hidden
// between.
func common(text, other string) string {
	a, b := []rune(text), []rune(other)
	begin, end, most := 0, 0, min(len(a), len(b))
	for begin < most && a[begin] == b[begin] {
		begin++
	}
	for begin > 0 && inWord(a[begin-1]) {
		begin--
	}
	for end < most-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && inWord(a[len(a)-end]) {
		end--
	}
	return string(a[:begin]) + Hidden + string(a[len(a)-end:])
}

// inWord reports whether a character may belong to a value in base64 or a number.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+/=_-", r)
}

// concealed is the minimum length, in characters, of values that are searched in text: shorter ones
// are words like true, and hiding them would reveal them.
const concealed = 6

// Conceal returns text without the values of Secrets among contents: plain, decoded and encoded. It
// is for text that no expression of a policy computed: it cannot be determined whether it contains a
// value of the Secret, so values of less than 6 characters remain.
func Conceal(text string, contents ...map[string]any) string {
	var values []string
	for _, c := range contents {
		values = append(values, Values(c)...)
	}
	return ConcealValues(text, values)
}

// ConcealValues returns text without those values that have at least 6 characters.
func ConcealValues(text string, values []string) string {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, value := range slices.Compact(values) {
		if utf8.RuneCountInString(value) >= concealed {
			text = strings.ReplaceAll(text, value, Hidden)
		}
	}
	return text
}

// ConcealFor is Conceal with the contents of objects.
func ConcealFor(text string, objects ...*admission.Object) string {
	var contents []map[string]any
	for _, o := range objects {
		if o != nil && IsSecret(o.Content()) {
			contents = append(contents, o.Content())
		}
	}
	return Conceal(text, contents...)
}

// Values returns the values in the content of a Secret: plain, decoded, encoded and quoted, and
// values that are no text, such as an unquoted number, which a server names when it refuses them; nil
// for another kind.
func Values(content map[string]any) []string {
	if !IsSecret(content) {
		return nil
	}
	var values []string
	if s := New(content); s != nil {
		for _, value := range s.back {
			values = append(values, value, base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)))
		}
	}
	for _, field := range []string{"data", "stringData"} {
		values = scalars(values, content[field])
	}
	for _, value := range values {
		if quoted := strconv.Quote(value); len(quoted) > len(value)+2 {
			values = append(values, quoted[1:len(quoted)-1])
		}
	}
	return values
}

// scalars appends the scalars in a value, as text.
func scalars(values []string, value any) []string {
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for _, v := range value {
			values = scalars(values, v)
		}
	case []any:
		for _, v := range value {
			values = scalars(values, v)
		}
	default:
		values = append(values, fmt.Sprint(value))
	}
	return values
}

// IsSecret reports whether a content is that of a Secret.
func IsSecret(content map[string]any) bool {
	return content["kind"] == "Secret" && content["apiVersion"] == "v1"
}
