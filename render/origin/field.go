package origin

import (
	"regexp"
	"strings"
)

// Field returns the value of a field of an object's content. The path has the form of Origin.Find.
func Field(content map[string]any, path string) (value any, found bool) {
	if text, field, ok := CutText(path); ok {
		value, _ = Field(content, text)
		return fieldOfText(value, field)
	}
	value = content
	steps := ParsePath(path)
	for len(steps) > 0 {
		used := 0
		if value, used = ValueAt(value, steps); used == 0 {
			return nil, false
		}
		steps = steps[used:]
	}
	return value, true
}

// ValueAt follows as many steps in a value as OneHop does in nodes.
func ValueAt(value any, steps []PathStep) (next any, used int) {
	switch v := value.(type) {
	case []any:
		if s := steps[0]; s.Indexed && s.Index < len(v) {
			return v[s.Index], 1
		}
	case map[string]any:
		var key []string
		for i, s := range steps {
			key = append(key, s.Key)
			if next, ok := v[strings.Join(key, ".")]; ok {
				return next, i + 1
			}
		}
	}
	return nil, 0
}

// AppendKey appends a key of a mapping to a field path: `metadata.labels` and `app` result in
// `metadata.labels.app`. Keys with dots or brackets are put in brackets.
func AppendKey(path, key string) string {
	switch {
	case strings.Contains(key, `"]`):
		return path + "['" + key + "']"
	case key == "" || strings.Contains(key, "]") || strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'"):
		return path + `["` + key + `"]`
	case strings.ContainsAny(key, ".["):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// SplitImage splits an image before its tag and digest, which keep their `:` and `@`.
func SplitImage(image string) (name, version string) {
	at := strings.IndexByte(image, '@')
	if at < 0 {
		at = len(image)
	}
	if colon := strings.LastIndexByte(image[:at], ':'); colon > strings.LastIndexByte(image[:at], '/') {
		at = colon
	}
	return image[:at], image[at:]
}

// ContentHash matches the suffix that kustomize appends to the names of generated objects, in its alphabet.
var ContentHash = regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`)
