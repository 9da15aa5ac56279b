package unknown

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// StandIns are the values with which an object is prepared in place of those of its unknown fields.
type StandIns struct {
	types Types
	// numbers has the numbers of stand-ins by written text: equal texts have equal stand-ins, before
	// and after a change.
	numbers map[string]int
	// more are values of other fields. They reveal results that depend on two fields being equal, or
	// on their order.
	more []any
	// written maps stand-ins to the texts that they replace.
	written map[string]string
}

// New returns stand-ins for objects of one kind.
func New(types Types) *StandIns {
	return &StandIns{types: types, numbers: map[string]int{}, written: map[string]string{}}
}

// mostRuns bounds how often an object is prepared.
const mostRuns = 24

// Runs returns the number of different stand-ins for some unknown fields of an object.
func (s *StandIns) Runs(content map[string]any, fields []render.Unknown) int {
	n := 3
	for i := range fields {
		n = max(n, 1+len(s.values(&fields[i], render.ValueAt(content, fields[i].Path))))
	}
	return min(n, mostRuns)
}

// Among adds the values of an object to the stand-ins.
func (s *StandIns) Among(content any) {
	switch v := content.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.Among(v[key])
		}
	case []any:
		for _, item := range v {
			s.Among(item)
		}
	case string, int64, float64:
		if len(s.more) < mostRuns && !slices.Contains(s.more, content) {
			s.more = append(s.more, v)
		}
	}
}

// quoted matches a quoted text in an error.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// AddQuoted adds the texts that refusals quote, which may be required values of a field, and their
// parts: the group of a definition is the end of its name.
func (s *StandIns) AddQuoted(refusals []Refusal) {
	for _, r := range refusals {
		for _, text := range quoted.FindAllString(r.ErrStatus.Message, -1) {
			text, err := strconv.Unquote(text)
			if err != nil || strings.Contains(text, "unknown-") {
				continue
			}
			s.Among(text)
			if first, rest, ok := strings.Cut(text, "."); ok {
				s.Among(first)
				s.Among(rest)
			}
		}
	}
}

// sameRun is the run in which an object and its other version have equal values, as far as one of
// them is known: an update may depend only on whether a value changes.
const sameRun = 1

// Fill returns an object with the stand-ins of a run. other is the object before the change, or after
// it; nil when there is none.
func (s *StandIns) Fill(content, other map[string]any, fields []render.Unknown, run int) map[string]any {
	var out any = content
	for i := range fields {
		written := render.ValueAt(content, fields[i].Path)
		values := s.values(&fields[i], written)
		with := values[(run+len(values)-1)%len(values)]
		if run < sameRun {
			with = values[0]
		} else if same := render.ValueAt(other, fields[i].Path); run == sameRun && same != nil {
			with = same
		}
		if text, ok := written.(string); ok && strings.Contains(fmt.Sprint(with), "unknown-") {
			s.written[fmt.Sprint(with)] = text
		}
		out = replaced(out, fields[i].Path, with)
	}
	filled, _ := out.(map[string]any)
	return filled
}

// Written returns content that was prepared with stand-ins with the written texts in their place.
func (s *StandIns) Written(content map[string]any) map[string]any {
	written, _ := s.restored(content).(map[string]any)
	return written
}

func (s *StandIns) restored(value any) any {
	switch v := value.(type) {
	case string:
		if text, ok := s.written[v]; ok {
			return text
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.restored(item)
		}
		return out
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = s.restored(item)
		}
		return out
	}
	return value
}

// replaced returns a copy of a value with another at a path; it shares the rest.
func replaced(value any, path []string, with any) any {
	if len(path) == 0 {
		return with
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = item
		}
		if item, ok := v[path[0]]; ok {
			out[path[0]] = replaced(item, path[1:], with)
		}
		return out
	case []any:
		out := slices.Clone(v)
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			out[i] = replaced(v[i], path[1:], with)
		}
		return out
	}
	return value
}

// variable matches a variable that a deployer substitutes.
var variable = regexp.MustCompile(`\$\{[^{}]*\}`)

// values returns the stand-ins for a field.
func (s *StandIns) values(f *render.Unknown, written any) []any {
	key := fmt.Sprint(written)
	if _, ok := s.numbers[key]; !ok {
		s.numbers[key] = len(s.numbers)
	}
	n := s.numbers[key]
	t := s.types(f.Path)
	values := s.ofType(t, f.Path, n)
	template, _ := written.(string)
	if rest := variable.ReplaceAllString(template, ""); rest != template && strings.TrimSpace(rest) != "" && t.kind == text {
		values = nil // the text is not empty
		for i := range 3 {
			values = append(values, variable.ReplaceAllString(template, fmt.Sprintf("unknown-%d-%d", n, i)))
		}
		return append(values, fitting(template, slices.Concat(s.more, t.values))...)
	}
	for _, v := range s.more {
		_, isText := v.(string)
		if isText && t.kind == text || !isText && (t.kind == number || t.kind == decimal || t.kind == numberOrText) {
			values = append(values, v)
		}
	}
	return append(values, t.values...)
}

// fitting returns those values that may result from a template.
func fitting(template string, values []any) (fit []any) {
	parts := variable.Split(template, -1)
	for _, v := range values {
		if text, ok := v.(string); ok && consists(text, parts) && !variable.MatchString(text) {
			fit = append(fit, v)
		}
	}
	return fit
}

// consists reports whether a text consists of two or more parts, with anything between them.
func consists(text string, parts []string) bool {
	rest, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if ok {
			_, rest, ok = strings.Cut(rest, part)
		}
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

func (s *StandIns) ofType(t Type, path []string, n int) []any {
	name := fmt.Sprintf("unknown-%d", n)
	switch t.kind {
	case text:
		values := []any{name, name + "-a", nil}
		if len(path) > 0 && path[len(path)-1] == "image" { // its tag determines imagePullPolicy
			values = append(values, name+":1")
		}
		if len(path) > 0 && path[len(path)-1] == "clusterIP" { // clusterIPs is derived from it
			values = append(values, "None", "10.96.0.7")
		}
		return values
	case number:
		return []any{int64(1), int64(0), nil, int64(7)}
	case decimal:
		return []any{int64(1), 0.5, nil}
	case boolean:
		return []any{true, false, nil}
	case object:
		return []any{map[string]any{}, nil}
	case list:
		return []any{[]any{}, nil}
	case bytes:
		return []any{base64.StdEncoding.EncodeToString([]byte(name)), base64.StdEncoding.EncodeToString([]byte(name + "-a")), nil}
	case quantity:
		return []any{"1", "0", nil, "7Gi"}
	case numberOrText:
		return []any{int64(1), name, nil, "7%"}
	case moment:
		return []any{"2000-01-01T00:00:00Z", "2000-01-01T00:00:07Z", nil}
	case duration:
		return []any{"1s", "7s", nil}
	}
	return []any{name, name + "-a", nil}
}
