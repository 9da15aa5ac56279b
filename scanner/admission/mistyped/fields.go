package mistyped

import (
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// Fields returns the fields of an object that caused a message about decoding it. It returns none if the
// message is about something else, or possibly about any of several fields. Unknown fields are decoded with
// stand-ins, so they are never the cause.
func Fields(message string, object map[string]any, unknown []render.Unknown) []string {
	if fields := strict(message); len(fields) > 0 {
		return fields
	}
	if fields := applied(message, object); len(fields) > 0 {
		return fields
	}
	if field, ok := unmerged(message, object); ok {
		return []string{field}
	}
	if field, ok := undecoded(message, object, unknown); ok {
		return []string{field}
	}
	return nil
}

// strictError is the beginning of errors of strict decoding (k8s.io/apimachinery/pkg/runtime,
// strictDecodingError).
const strictError = "strict decoding error: "

var strictField = regexp.MustCompile(`(?:^|, )(?:unknown|duplicate) field "([^"]*)"`)

// strict returns the fields that strict decoding refuses. They are at the end of a message.
func strict(message string) (fields []string) {
	at := strings.LastIndex(message, strictError)
	if at < 0 {
		return nil
	}
	for _, m := range strictField.FindAllStringSubmatch(message[at+len(strictError):], -1) {
		fields = append(fields, m[1])
	}
	return fields
}
