package settled

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
)

// Key identifies an evaluation by all its inputs.
type Key [sha256.Size]byte

// KeyOf returns the key of JSON-like values, in this order. Their types must be those of an object's
// content, Key, or Object.
func KeyOf(values ...any) (Key, error) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	text := (*buffer)[:0]
	for _, value := range values {
		var err error
		if text, err = appendValue(text, value); err != nil {
			return Key{}, err
		}
	}
	*buffer = text
	return sha256.Sum256(text), nil
}

// buffers are reused buffers for encoding.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// appendValue appends a unique encoding of a value: it begins with the type, and values without a fixed
// length with their length.
func appendValue(text []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(text, 'n'), nil
	case bool:
		if v {
			return append(text, 't'), nil
		}
		return append(text, 'f'), nil
	case string:
		return appendString(append(text, 's'), v), nil
	case int64:
		return binary.AppendVarint(append(text, 'i'), v), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(text, 'd'), math.Float64bits(v)), nil
	case Object:
		return appendObject(text, v)
	case Key:
		return append(append(text, 'k'), v[:]...), nil
	case []any:
		text = binary.AppendUvarint(append(text, 'l'), uint64(len(v)))
		for _, item := range v {
			var err error
			if text, err = appendValue(text, item); err != nil {
				return nil, err
			}
		}
		return text, nil
	case map[string]any:
		return appendMap(text, v)
	}
	return nil, fmt.Errorf("no value of JSON: %T", value)
}

// appendMap appends the fields in the order of their names.
func appendMap(text []byte, fields map[string]any) ([]byte, error) {
	text = binary.AppendUvarint(append(text, 'm'), uint64(len(fields)))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var err error
		if text, err = appendValue(appendString(text, name), fields[name]); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func appendString(text []byte, s string) []byte {
	return append(binary.AppendUvarint(text, uint64(len(s))), s...)
}
