package apply

import (
	"bytes"
	"slices"
)

// IsPlain reports whether server-side apply of a new object certainly has the same result as creating
// it: the object has no null except creationTimestamp, which tools write and servers ignore, and each
// item of a list with keys has a key that no other item has. The lists are those of Kubernetes;
// package custom has those of custom resources.
func (m *Manifest) IsPlain() bool {
	for i := range m.items(0) {
		if string(m.key(i)) != "metadata" && !m.plain(i) {
			return false
		}
	}
	return m.HasPlainMetadata()
}

// HasPlainMetadata is IsPlain for metadata.
func (m *Manifest) HasPlainMetadata() bool {
	i := m.member(0, "metadata")
	return i < 0 || m.plainMetadata(i)
}

func (m *Manifest) plainMetadata(metadata int) bool {
	if m.values[metadata].kind != '{' {
		return m.plain(metadata)
	}
	for i := range m.items(metadata) {
		switch key := string(m.key(i)); {
		case key == "managedFields" || key == "uid" || key == "resourceVersion":
			return false
		case (key != "creationTimestamp" || m.values[i].kind != 'n') && !m.plain(i):
			return false
		}
	}
	return true
}

// PlainDefinition is IsPlain for the JSON of a CustomResourceDefinition. Its schemas are large, and of the
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
			start, end := at, endOfString(text, at)
			key := string(text[start+1 : end])
			at = end
			colon := skipSpace(text, end+1)
			if colon >= len(text) || text[colon] != ':' || key != "x-kubernetes-validations" && (depth != 1 || key != "metadata" && key != "status") {
				continue
			}
			part := Manifest{text: text}
			after := part.read(skipSpace(text, colon+1), start+1, end)
			if after < 0 || key == "metadata" && !part.plainMetadata(0) || key != "metadata" && !part.plain(0) {
				return false
			}
			at = after - 1
		}
	}
	return depth == 0 && len(text) > 0
}

// plain is IsPlain for a value.
func (m *Manifest) plain(of int) bool {
	switch field := string(m.key(of)); m.values[of].kind {
	case 'n':
		return false
	case '{':
		for i := range m.items(of) {
			if !m.plain(i) || m.values[i].kind == '[' && (field == "data" || field == "binaryData") { // creation reads it as bytes
				return false
			}
		}
	case '[':
		for i := range m.items(of) {
			if !m.plain(i) || !m.distinct(of, i) {
				return false
			}
		}
	}
	return true
}

// listKeys are the first keys of lists with keys in Kubernetes' types.
var listKeys = []string{"name", "containerPort", "port", "key", "type", "mountPath", "devicePath", "ip", "topologyKey", "uid", "containerName", "request", "driver", "resourceName", "level", "version", "signerName", "ruleName", "rule"}

// withoutKeys are fields of Kubernetes' types that are never lists with keys and whose items often
// have no field of such a name.
var withoutKeys = map[string]bool{
	"rules": true, "envFrom": true, "from": true, "to": true, "ingress": true, "egress": true, "paths": true, "tls": true,
	"nodeSelectorTerms": true, "requiredDuringSchedulingIgnoredDuringExecution": true, "preferredDuringSchedulingIgnoredDuringExecution": true,
	"sources": true, "items": true, "clusterRoleSelectors": true, "volumeClaimTemplates": true, "resourceRules": true,
}

// distinct reports whether an item of a list certainly has another key than the items before it.
func (m *Manifest) distinct(list, item int) bool {
	if m.values[item].kind != '{' {
		return !m.repeats(list, item, item, "")
	}
	hasKey := withoutKeys[string(m.key(list))]
	for i := range m.items(item) {
		key := string(m.key(i))
		if !slices.Contains(listKeys, key) {
			continue
		}
		hasKey = hasKey || string(m.scalar(i)) != `""` && string(m.scalar(i)) != "0" // Flux does not send these
		if m.repeats(list, item, i, key) {
			return false
		}
	}
	return hasKey
}

// repeats reports whether a value equals the field of a name in an item that precedes another item of a list.
// With an empty name it compares the items themselves.
func (m *Manifest) repeats(list, item, value int, key string) bool {
	is := m.scalar(value)
	for other := range m.items(list) {
		switch {
		case other == item:
			return false
		case is == nil:
			continue
		case key != "" && m.values[other].kind == '{':
			other = m.member(other, key)
		case key != "":
			continue
		}
		if other >= 0 && bytes.Equal(m.scalar(other), is) {
			return true
		}
	}
	return false
}

// IsNormal reports whether Flux sends a manifest unchanged, apart from differences without effect on a new
// object: its client omits empty lists and maps in most fields. Empty structs are sent.
func (m *Manifest) IsNormal() bool { return m.normal(0) }

func (m *Manifest) normal(of int) bool {
	switch kind := m.values[of].kind; {
	case kind != '{' && kind != '[':
		return true
	case m.isEmpty(of):
		return kind == '{' && emptyStructs[string(m.key(of))]
	}
	for i := range m.items(of) {
		isEmptyItem := m.values[of].kind == '[' && m.values[i].kind == '{' && m.isEmpty(i)
		if !isEmptyItem && !m.normal(i) {
			return false
		}
	}
	return true
}

// emptyStructs are fields of Kubernetes' types that are often empty and never maps.
var emptyStructs = map[string]bool{"emptyDir": true, "securityContext": true, "resources": true, "podSelector": true, "namespaceSelector": true, "strategy": true}
