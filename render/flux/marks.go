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

// mark stands for an unknown value in a text: letters that YAML takes for a string, which no
// text holds that somebody wrote.
const mark = "PREADMITxUNKNOWNx6f1e2c9a"

// errMark says that a text holds the mark.
var errMark = errors.New("holds " + mark + ", which stands for an unknown value here")

// markedValue is a value that is not known.
type markedValue struct {
	// text is what is written in its place, why the reason why it is not known.
	text, why string
}

var marked = regexp.MustCompile(mark + `(\d+)x`)

// unmark returns the fields that hold marks, and puts the names of variables in their place.
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
			if m != text { // else nothing of it is known
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

// rename replaces strings and keys at and below a value.
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

// markedWhole is as content, but takes a string of which a part is not known for unknown as a
// whole.
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
