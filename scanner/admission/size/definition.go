package size

import "encoding/json"

const (
	// added is an upper bound of the bytes that a server adds to an object in a definition: fields
	// that are false or empty.
	added = 32
	// written is an upper bound of the bytes that it adds to a number written with an exponent.
	written = 21
	// respelled and escaped are the bytes that it adds to a character that it encodes differently.
	respelled, escaped = 4, 5
	// managers is how often managed fields repeat the metadata, and created an upper bound of the
	// other new bytes.
	managers, created = 4, 4 << 10
)

// OfDefinition returns an upper bound of the size of a CustomResourceDefinition, given as JSON, after it is
// created and stored, in bytes. Its managed fields contain those of the metadata one by one, but no schemas:
// the list of versions is one field.
func OfDefinition(text []byte) (int, error) {
	var of struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return 0, err
	}
	bytes, quoted := len(text)+managers*len(of.Metadata)+created, false
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			bytes += respelled
			at++
		case c == '<' || c == '>' || c == '&' || c >= 0x80:
			bytes += escaped
		case !quoted && c == '{':
			bytes += added
		case !quoted && (c == 'e' || c == 'E'): // also of true and false
			bytes += written
		}
	}
	return bytes, nil
}
