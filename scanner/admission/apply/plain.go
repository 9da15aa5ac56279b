package apply

import (
	"bytes"
	"encoding/json"
)

// Plain reports whether applying a new object on the server certainly has the result of
// creating it: it has no null but as the time of creation, which tools write and servers
// ignore, and no list by key has two items with an equal key, or one without. The lists are
// those of Kubernetes; those of custom resources are in package custom.
func Plain(content map[string]any) bool {
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return plain("", content)
	}
	for _, field := range []string{"managedFields", "uid", "resourceVersion"} {
		if _, ok := metadata[field]; ok {
			return false
		}
	}
	for field, value := range content {
		if field != "metadata" && !plain(field, value) {
			return false
		}
	}
	for field, value := range metadata {
		if (field != "creationTimestamp" || value != nil) && !plain(field, value) {
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

// plain is Plain for a value of a field.
func plain(field string, value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case map[string]any:
		for name, value := range v {
			_, isList := value.([]any)
			if !plain(name, value) || isList && (field == "data" || field == "binaryData") { // creation takes it for bytes
				return false
			}
		}
	case []any:
		for i, item := range v {
			if !plain("", item) || !distinct(field, item, v[:i]) {
				return false
			}
		}
	}
	return true
}

// listKeys are the first keys of lists by key in Kubernetes' types.
var listKeys = []string{"name", "containerPort", "port", "key", "type", "mountPath", "devicePath", "ip", "topologyKey", "uid", "containerName", "request", "driver", "resourceName", "level", "version", "signerName", "ruleName", "rule"}

// withoutKeys are fields of Kubernetes' types that are never lists by key and whose items often
// have none of the names of keys.
var withoutKeys = map[string]bool{
	"rules": true, "envFrom": true, "from": true, "to": true, "ingress": true, "egress": true, "paths": true, "tls": true,
	"nodeSelectorTerms": true, "requiredDuringSchedulingIgnoredDuringExecution": true, "preferredDuringSchedulingIgnoredDuringExecution": true,
	"sources": true, "items": true, "clusterRoleSelectors": true, "volumeClaimTemplates": true, "resourceRules": true,
}

// distinct reports whether an item of a list certainly has another key than those before it.
func distinct(field string, item any, before []any) bool {
	m, ok := item.(map[string]any)
	if !ok {
		for _, other := range before {
			if _, isMap := other.(map[string]any); !isMap && equalScalar(item, other) {
				return false
			}
		}
		return true
	}
	hasKey := withoutKeys[field]
	for _, key := range listKeys {
		value, ok := m[key]
		if !ok {
			continue
		}
		hasKey = hasKey || value != "" && value != int64(0) // which Flux does not send
		for _, other := range before {
			if o, ok := other.(map[string]any); ok && equalScalar(o[key], value) {
				return false
			}
		}
	}
	return hasKey
}

// Normal reports whether Flux sends a manifest as it is, but for what makes no difference to a new
// object: its client leaves out empty lists and maps of most fields. Empty structs are sent.
func Normal(value any) bool { return normal("", value) }

func normal(field string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return emptyStructs[field]
		}
		for name, value := range v {
			if !normal(name, value) {
				return false
			}
		}
	case []any:
		if len(v) == 0 {
			return false
		}
		for _, item := range v {
			if m, ok := item.(map[string]any); !(ok && len(m) == 0) && !normal("", item) {
				return false
			}
		}
	}
	return true
}

// emptyStructs are fields of Kubernetes' types that are often empty, and none of which is a map.
var emptyStructs = map[string]bool{"emptyDir": true, "securityContext": true, "resources": true, "podSelector": true, "namespaceSelector": true, "strategy": true}

func equalScalar(a, b any) bool {
	switch a.(type) {
	case string, int64, float64, bool:
		return a == b
	}
	return false
}
