package escape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// GuardJSON is Text for encoded JSON. It uses escape sequences of JSON, so the document
// keeps its meaning and is safe to print. The characters to escape occur only in strings.
func GuardJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc)+len(doc)/64)
	for i := 0; i < len(doc); {
		if c := doc[i]; c < utf8.RuneSelf {
			switch {
			case c == 0x7f:
				out = append(out, `\u007f`...)
			case c == '[' && i >= 2 && doc[i-1] == '#' && doc[i-2] == '#':
				out = append(out, `\u005b`...)
			default:
				out = append(out, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if visible(r) {
			out = append(out, doc[i:i+n]...)
		} else {
			out = appendJSONEscape(out, r)
		}
		i += n
	}
	return out
}

func appendJSONEscape(out []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		out = fmt.Appendf(out, `\u%04x`, 0xd800+r>>10)
		return fmt.Appendf(out, `\u%04x`, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// EncodeJSON writes v as indented JSON, guarded by GuardJSON. It does not escape HTML.
func EncodeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(GuardJSON(buf.Bytes()))
	return err
}
