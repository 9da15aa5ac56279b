package flux

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/fluxcd/pkg/envsubst/parse"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// mark stands for an unknown value in a text. YAML reads it as a string, and it is not in any text that somebody wrote.
const mark = "PREADMITxUNKNOWNx6f1e2c9a"

// errMark is the error of a text that contains the mark.
var errMark = errors.New("holds " + mark + ", which stands for an unknown value here")

// markedValue is an unknown value.
type markedValue struct {
	// text is the text that was written in its place, why the reason why it is not known.
	text, why string
}

var marked = regexp.MustCompile(mark + `(\d+)x`)

// unmark returns the fields with marks as unknown, and replaces the marks by the variables.
func unmark(content map[string]any, marks []markedValue) []render.Unknown {
	of := func(text string) markedValue {
		return marks[min(tree.Atoi(marked.FindStringSubmatch(text)[1]), len(marks)-1)]
	}
	unknown := render.FieldsWith(content, func(text string) string {
		if !marked.MatchString(text) {
			return ""
		}
		return of(text).why
	})
	named := func(text string) string {
		return marked.ReplaceAllStringFunc(text, func(m string) string { return of(m).text })
	}
	for i, field := range unknown {
		text, parts := render.TextAt(content, field.Path), map[string]bool{}
		for _, m := range marked.FindAllString(text, -1) {
			if m != text { // otherwise the whole value is unknown
				parts[of(m).text] = true
			}
		}
		unknown[i].Holds = slices.Sorted(maps.Keys(parts))
	}
	rename(content, named)
	for _, field := range unknown {
		for i, key := range field.Path {
			field.Path[i] = named(key)
		}
	}
	return unknown
}

// rename replaces all strings and keys in a value.
func rename(value any, named func(string) string) any {
	switch v := value.(type) {
	case string:
		return named(v)
	case []any:
		for i, item := range v {
			v[i] = rename(item, named)
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			item := v[key]
			delete(v, key)
			v[named(key)] = rename(item, named)
		}
	}
	return value
}

// markedWhole is like content, but treats a string with an unknown part as completely unknown.
func (r *substituter) markedWhole(object []byte) (after map[string]any, marks []markedValue, err error) {
	var before map[string]any
	if err := utiljson.Unmarshal(object, &before); err != nil {
		return nil, nil, err
	}
	rename(before, func(text string) string {
		template, err := parse.Parse(text)
		if err != nil {
			return text
		}
		e := &evaluation{substituter: r}
		why := e.reason(template.Root)
		if why == "" {
			return text
		}
		marks = append(marks, markedValue{text, why})
		return fmt.Sprintf("%s%dx", mark, len(marks)-1)
	})
	with := *r
	with.marked = true
	after, _, err = with.content(tree.Encode(before))
	return after, marks, err
}
