package apply

import (
	"bytes"
	"encoding/json"
)

// Plain reports whether applying a new object on the server certainly comes to the same as
// creating it: it has no null but as the time of creation, which tools write and servers
// ignore, and no list has two items with an equal key. The keys of lists are those of
// Kubernetes; of custom resources it is not told.
func Plain(content map[string]any) bool {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return plain(content)
	}
	for _, field := range []string{"managedFields", "uid", "resourceVersion"} {
		if _, ok := metadata[field]; ok {
			return false
		}
	}
	for field, value := range content {
		if field != "metadata" && !plain(value) {
			return false
		}
	}
	for field, value := range metadata {
		if (field != "creationTimestamp" || value != nil) && !plain(value) {
			return false
		}
	}
	return true
}

// PlainDefinition is Plain for a CustomResourceDefinition, given as JSON. Its schemas are large, and of the
// lists in its spec only those of rules have keys.
func PlainDefinition(text []byte) bool {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case 'n': // of null: it is in no string
			return false
		case '"':
			end := endOfString(text, at)
			key := string(text[at+1 : end])
			at = end
			value, isKey := bytes.CutPrefix(bytes.TrimLeft(text[min(end+1, len(text)):], " \t\r\n"), []byte(":"))
			if !isKey || key != "x-kubernetes-validations" && (depth != 1 || key != "metadata" && key != "status") {
				continue
			}
			decoder := json.NewDecoder(bytes.NewReader(value))
			var decoded any
			if decoder.Decode(&decoded) != nil || !Plain(map[string]any{key: decoded}) {
				return false
			}
			at = len(text) - len(value) + int(decoder.InputOffset()) - 1
		}
	}
	return depth == 0 && len(text) > 0
}

// endOfString is the place of the quote that ends a string, which begins with the one at a place.
func endOfString(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at, len(text))
}

func plain(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case map[string]any:
		for _, field := range v {
			if !plain(field) {
				return false
			}
		}
	case []any:
		return !doubled(v)
	}
	return true
}

// listKeys are the first keys of lists by key in Kubernetes' types.
var listKeys = []string{"name", "containerPort", "port", "key", "type", "mountPath", "devicePath", "ip", "topologyKey", "uid", "containerName", "request", "driver", "resourceName", "level", "version", "signerName", "ruleName", "rule"}

// doubled reports whether items of a list may have the same key, or hold what is not plain.
func doubled(list []any) bool {
	for i, item := range list {
		if !plain(item) {
			return true
		}
		m, ok := item.(map[string]any)
		if !ok {
			for _, other := range list[:i] {
				if _, isMap := other.(map[string]any); !isMap && equalScalar(item, other) {
					return true
				}
			}
			continue
		}
		for _, key := range listKeys {
			value, ok := m[key]
			if !ok {
				continue
			}
			for _, other := range list[:i] {
				if o, ok := other.(map[string]any); ok && equalScalar(o[key], value) {
					return true
				}
			}
		}
	}
	return false
}

func equalScalar(a, b any) bool {
	switch a.(type) {
	case string, int64, float64, bool:
		return a == b
	}
	return false
}
