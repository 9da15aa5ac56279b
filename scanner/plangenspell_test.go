package scanner_test

import (
	"encoding/binary"
	"regexp"
	"strings"
	"unicode/utf16"
)

var kindLine = regexp.MustCompile(`(?m)^kind: ([A-Za-z]{4,})$`)

// spell sometimes returns a text in another notation with the same meaning.
func (g *planGenerator) spell(text string) string {
	switch g.IntN(24) {
	case 0:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		return encodeUTF16(text)
	case 2:
		return kindLine.ReplaceAllString(text, `"kind" : &k $1`)
	case 3:
		return kindLine.ReplaceAllString(text, "kind: >-\n  $1")
	case 4:
		return g.spellKinds(text, func(a, b string) string { return `"` + a + "\\\n  " + b + `"` })
	case 5:
		return g.spellKinds(text, func(a, b string) string { return `"` + a + "\\\u2028  " + b + `"` })
	case 6:
		return g.spellKinds(text, func(a, b string) string { return `"` + a + "\\\r  " + b + `"` })
	case 7:
		return g.spellKinds(text, func(a, b string) string {
			return `"` + a + `\x` + strings.ToLower(hexOf(b[0])) + b[1:] + `"`
		})
	case 8:
		return strings.ReplaceAll(text, "name: limits", `"name": "l\u0069mits"`)
	case 9:
		return strings.ReplaceAll(text, "namespace: team-b", "namespace: \"team\\\n    -b\"")
	}
	return text
}

func (g *planGenerator) spellKinds(text string, with func(a, b string) string) string {
	return kindLine.ReplaceAllStringFunc(text, func(line string) string {
		kind := strings.TrimPrefix(line, "kind: ")
		return "kind: " + with(kind[:3], kind[3:])
	})
}

func hexOf(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

func encodeUTF16(text string) string {
	data := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return string(data)
}
