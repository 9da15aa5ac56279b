package policy

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/preadmit/preadmit/scanner/admission"
)

// Hidden stands in messages for what a Secret holds.
const Hidden = "***"

// lastApplied is the annotation in which kubectl keeps the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// secretTokens replaces what Secrets hold by tokens that occur nowhere else, so that a message
// made of them tells what it quotes: words of the policy that happen to be a value
// stay, and the shortest value is found. Equal values have equal tokens.
type secretTokens struct {
	// tokens are those of values as text.
	tokens map[string]string
	// back is what each token, as text and as base64, stands for.
	back map[string]string
}

// newSecretTokens returns the tokens for the Secrets among contents; nil when they hold nothing.
func newSecretTokens(contents ...map[string]any) *secretTokens {
	s := &secretTokens{tokens: map[string]string{}, back: map[string]string{}}
	for _, c := range contents {
		if isSecret(c) {
			s.apply(c)
		}
	}
	if len(s.tokens) == 0 {
		return nil
	}
	return s
}

// apply returns the content of a Secret with its values replaced; of another kind, the
// content itself.
func (s *secretTokens) apply(content map[string]any) map[string]any {
	if !isSecret(content) {
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

// values replaces the values of a map, in the order of their keys: equal Secrets have
// equal tokens. What is no text, or empty, stays.
func (s *secretTokens) values(values map[string]any, encoded bool) map[string]any {
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

// token is the one for a value: letters of a private use area, which no text has. It
// differs from the value in its length, and in that of its base64 and of the padding.
func (s *secretTokens) token(value string) string {
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

// redact returns text without what it quotes, if again is what the same expression says of
// sealed content. What is made of a value in another way than by quoting it as a
// whole is hidden together with all that stands between: only what both texts begin
// and end with does not depend on it.
func (s *secretTokens) redact(text, again string) string {
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

// common is what two texts begin and end with, in whole words, with Hidden between.
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

// redact sets what may be shown of decisions about Secrets.
func (e *evaluation) redact(decisions []Decision) {
	s := newSecretTokens(e.version.Object, e.version.OldObject, e.params)
	if s == nil {
		return
	}
	sealed := *e
	version := *e.version
	version.Object, version.OldObject = s.apply(version.Object), s.apply(version.OldObject)
	sealed.version, sealed.params = &version, s.apply(e.params)
	for i := range decisions {
		d := &decisions[i]
		if d.Validation < 0 {
			d.Told = Conceal(d.Message, e.version.Object, e.version.OldObject, e.params)
			continue
		}
		if d.Told = d.Message; d.Message != e.fixed(d) {
			d.Told = s.redact(d.Message, sealed.again(d))
		}
	}
}

// fixed is the text a failed validation has without a messageExpression.
func (e *evaluation) fixed(d *Decision) string {
	if d.Cause != CauseValidation {
		return ""
	}
	return failureMessage(&e.policy.Spec.Validations[d.Validation], nil)
}

// again words a failed validation as for the content of e, whether or not it fails
// there.
func (e *evaluation) again(d *Decision) string {
	a := e.activation(d.Cause == CauseError, e.resource, e.namespace().object)
	a.meter = new(atomic.Int64)
	i := d.Validation
	if d.Cause != CauseValidation {
		results, _, err := a.evaluateAll(e.compiled.validations[i:i+1], celconfig.RuntimeCELCostBudget)
		switch {
		case err != nil:
			return err.Error()
		case results[0].err != nil:
			return results[0].err.Error()
		}
		return fmt.Sprintf("expression '%v' resulted in error: ", d.Expression)
	}
	var message *result
	if i < len(e.compiled.messages) {
		if results, _, err := a.evaluateAll(e.compiled.messages[i:i+1], celconfig.RuntimeCELCostBudget); err == nil {
			message = &results[0]
		}
	}
	return failureMessage(&e.policy.Spec.Validations[i], message)
}

// concealed is the length, in characters, from which on a value is looked for in
// text: shorter ones are words like true, and hiding them would tell them.
const concealed = 6

// Conceal is text without the values that Secrets among contents hold, as they are,
// decoded and encoded. It is for text that no expression of a policy made: there is no
// telling whether it has a value from the Secret, so values of less than 6 characters
// stay.
func Conceal(text string, contents ...map[string]any) string {
	var values []string
	for _, c := range contents {
		values = append(values, SecretValues(c)...)
	}
	return ConcealValues(text, values)
}

// ConcealValues is text without those of values that have at least 6 characters.
func ConcealValues(text string, values []string) string {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, value := range slices.Compact(values) {
		if utf8.RuneCountInString(value) >= concealed {
			text = strings.ReplaceAll(text, value, Hidden)
		}
	}
	return text
}

// ConcealFor is Conceal with the content of an object as it is written.
func ConcealFor(text string, objects ...*admission.Object) string {
	var contents []map[string]any
	for _, o := range objects {
		if o != nil && isSecret(o.Content()) {
			contents = append(contents, o.Content())
		}
	}
	return Conceal(text, contents...)
}

// SecretValues is what the content of a Secret holds, as it is, decoded and encoded; nil for
// another kind.
func SecretValues(content map[string]any) []string {
	s := newSecretTokens(content)
	if s == nil {
		return nil
	}
	var values []string
	for _, value := range s.back {
		values = append(values, value, base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)))
	}
	return values
}
