package size

import "encoding/json"

const (
	// added is more than a server adds to an object in a definition: fields that are false or empty.
	added = 32
	// written is more than it adds to a number that was written with an exponent.
	written = 21
	// respelled and escaped are what it adds to a character in another spelling.
	respelled, escaped = 4, 5
	// managers is how often the managers of fields repeat what the metadata has, and created more than
	// what is new in a definition as a whole.
	managers, created = 4, 4 << 10
)

// OfDefinition returns as many bytes as a CustomResourceDefinition has at most, given as JSON, when it is created
// and stored. The managers of its fields know those of the metadata one by one, but no schemas: the list of
// versions is one field to them.
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
