package tree

import "bytes"

// Head returns the apiVersion and the kind with which the JSON of an object begins, and what follows them. Its keys
// are sorted: an object for which ok is true has no items, nor another key before its kind.
func Head(object []byte) (apiVersion, kind, rest []byte, ok bool) {
	if apiVersion, rest, ok = member(object, `{"apiVersion":"`); ok {
		kind, rest, ok = member(rest, `,"kind":"`)
	}
	return apiVersion, kind, rest, ok
}

// member returns the value of a member with a string that a text begins with, as far as it is plain text.
func member(text []byte, begin string) (value, rest []byte, ok bool) {
	if text, ok = bytes.CutPrefix(text, []byte(begin)); !ok {
		return nil, nil, false
	}
	value, rest, ok = bytes.Cut(text, []byte(`"`))
	return value, rest, ok && bytes.IndexByte(value, '\\') < 0
}
