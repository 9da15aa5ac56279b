package tree

import "bytes"

// Head returns the apiVersion and the kind at the beginning of an object in JSON with sorted keys, and the rest. ok is
// true only if no other key, such as items, precedes the kind.
func Head(object []byte) (apiVersion, kind, rest []byte, ok bool) {
	if apiVersion, rest, ok = member(object, `{"apiVersion":"`); ok {
		kind, rest, ok = member(rest, `,"kind":"`)
	}
	return apiVersion, kind, rest, ok
}

// FirstObject returns the object at the beginning of a JSON text, nil for another text.
func FirstObject(text []byte) []byte {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return nil
}

// member returns the string value of a member at the beginning of a text, if it has no escapes.
func member(text []byte, begin string) (value, rest []byte, ok bool) {
	if text, ok = bytes.CutPrefix(text, []byte(begin)); !ok {
		return nil, nil, false
	}
	value, rest, ok = bytes.Cut(text, []byte(`"`))
	return value, rest, ok && bytes.IndexByte(value, '\\') < 0
}
