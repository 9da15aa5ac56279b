package apply

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
var listKeys = []string{"name", "containerPort", "port", "key", "type", "mountPath", "devicePath", "ip", "topologyKey", "uid", "containerName", "request", "driver", "resourceName", "level", "version", "signerName", "ruleName"}

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
