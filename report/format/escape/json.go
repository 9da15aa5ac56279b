package escape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// GuardJSON does for encoded JSON what Text does, with escapes of
// JSON: the document means the same and is safe to print. Outside of strings JSON
// has none of these characters.
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

// EncodeJSON is how all JSON leaves the program: HTML is left alone, what could
// harm a terminal is not.
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
