package apply

import "slices"

// Manifest is the JSON of an object, parsed as far as is needed to determine whether applying it equals
// creating it. A large change has thousands, and decoding them takes several times as long.
type Manifest struct {
	text   []byte
	values []node // each precedes the values inside it
}

// node is a value in the text of a manifest.
type node struct {
	kind               byte  // the first byte of its text
	keyStart, keyEnd   int32 // its key, without quotes, if it is in a map
	textStart, textEnd int32 // its text, if it is neither a map nor a list
	next               int32 // the index of the value after it and its items
}

// ReadManifest parses the JSON of an object; ok is false if it is not an object.
func ReadManifest(text []byte) (m Manifest, ok bool) {
	m = Manifest{text: text, values: make([]node, 0, len(text)/16+1)}
	at := m.read(skipSpace(text, 0), 0, 0)
	return m, at >= 0 && skipSpace(text, at) == len(text) && m.values[0].kind == '{'
}

// read parses the value at an offset and returns the offset after it, -1 if there is none.
func (m *Manifest) read(at, keyStart, keyEnd int) (after int) {
	if at >= len(m.text) {
		return -1
	}
	i := len(m.values)
	m.values = append(m.values, node{kind: m.text[at], keyStart: int32(keyStart), keyEnd: int32(keyEnd), textStart: int32(at)})
	switch m.text[at] {
	case '{', '[':
		after = m.readItems(at)
	case '"':
		if after = endOfString(m.text, at) + 1; after > len(m.text) {
			return -1
		}
	default:
		for after = at; after < len(m.text) && !slices.Contains([]byte(",]} \t\r\n"), m.text[after]); after++ {
		}
		if after == at {
			return -1
		}
	}
	m.values[i].textEnd, m.values[i].next = int32(after), int32(len(m.values))
	return after
}

// readItems parses the items of the list or map at an offset, and returns the offset after it.
func (m *Manifest) readItems(at int) (after int) {
	isMap, end := m.text[at] == '{', m.text[at]+2
	for at = skipSpace(m.text, at+1); at < len(m.text) && m.text[at] != end; {
		keyStart, keyEnd := 0, 0
		if isMap {
			if m.text[at] != '"' {
				return -1
			}
			keyStart, keyEnd = at+1, endOfString(m.text, at)
			if at = skipSpace(m.text, keyEnd+1); at >= len(m.text) || m.text[at] != ':' {
				return -1
			}
			at = skipSpace(m.text, at+1)
		}
		if at = m.read(at, keyStart, keyEnd); at < 0 {
			return -1
		}
		if at = skipSpace(m.text, at); at < len(m.text) && m.text[at] == ',' {
			at = skipSpace(m.text, at+1)
		}
	}
	if at >= len(m.text) {
		return -1
	}
	return at + 1
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
		at++
	}
	return at
}

// endOfString returns the offset of the closing quote of the string that begins at an offset.
func endOfString(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at, len(text))
}

// items returns the indexes of the items of a list or map.
func (m *Manifest) items(of int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := of + 1; i < int(m.values[of].next); i = int(m.values[i].next) {
			if !yield(i) {
				return
			}
		}
	}
}

// isEmpty reports whether a list or map is empty.
func (m *Manifest) isEmpty(i int) bool { return int(m.values[i].next) == i+1 }

// key returns the key of a value in a map.
func (m *Manifest) key(i int) []byte { return m.text[m.values[i].keyStart:m.values[i].keyEnd] }

// scalar returns the text of a value that is neither a map nor a list nor null, empty for others.
func (m *Manifest) scalar(i int) []byte {
	if v := &m.values[i]; v.kind != '{' && v.kind != '[' && v.kind != 'n' {
		return m.text[v.textStart:v.textEnd]
	}
	return nil
}

// member returns the index of a member of a map, -1 if it has none.
func (m *Manifest) member(of int, key string) int {
	for i := range m.items(of) {
		if string(m.key(i)) == key {
			return i
		}
	}
	return -1
}

// Has reports whether the object has a field.
func (m *Manifest) Has(field string) bool { return m.member(0, field) >= 0 }
