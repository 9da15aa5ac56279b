package objects

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Located is a rendered object with its origin.
type Located struct {
	*render.Object
	// Source may be nil for Write without Options.Origin.
	Source *origin.Origin
}

// Options configures how rendered objects are written.
type Options struct {
	// Origin adds a comment with the origin to every line with a value.
	Origin bool
	// ShowSecrets shows the values of Secrets, which are masked otherwise.
	ShowSecrets bool
}

// Write writes objects as a stream of YAML documents with sorted keys. The comments of
// opts.Origin are `path:line`, in parentheses if only the place of a parent field is
// known, and `?` if that is not known either. The comment above an object has its document
// and the entries by which kustomizations use it.
func Write(w io.Writer, objects []Located, opts Options) error {
	y := &yamlWriter{out: bufio.NewWriter(w)}
	for i, o := range objects {
		if i > 0 {
			y.text("---\n")
		}
		if opts.Origin {
			if way := passed(o.Source); way != "" {
				y.text("# " + way + "\n")
			}
			y.comment = func(path string) string { return writtenAt(o.Source, path, false) }
		}
		y.mapping(shown(o.Object, opts), "", 0, false)
	}
	if err := y.out.Flush(); err != nil {
		return fmt.Errorf("write the objects: %w", err)
	}
	return nil
}

// WriteField writes a line for each object that has a field, with its value and origin:
// `Kind/name: value  path:line:column`, the place in parentheses or `?` as in Write. If
// several places wrote the field, they follow in lines of their own, in order. field has
// the syntax of origin.Field. WriteField returns the number of objects.
func WriteField(w io.Writer, objects []Located, field string, opts Options) (found int, err error) {
	out := bufio.NewWriter(w)
	for _, o := range objects {
		value, ok := origin.Field(shown(o.Object, opts), field)
		if !ok {
			continue
		}
		_, _ = fmt.Fprintln(out, escape.Guard(fmt.Sprintf("%s: %s  %s", Name(o.Object), oneLine(value), writtenAt(o.Source, field, true))))
		for _, step := range historyOf(o.Source, field) {
			_, _ = fmt.Fprintln(out, escape.Guard("  "+step))
		}
		found++
	}
	if err := out.Flush(); err != nil {
		return found, fmt.Errorf("write the field: %w", err)
	}
	return found, nil
}

// oneLine returns a value as YAML in one line.
func oneLine(value any) string {
	if s, ok := value.(string); ok {
		return yamlString(s)
	}
	data, _ := json.Marshal(value) // cannot fail: value was decoded from JSON
	return string(escape.GuardJSON(data))
}

// Name returns the name of a rendered object, `Kind/name`, escaped.
func Name(o *render.Object) string {
	kind, name := o.KindAndName()
	return escape.Line(kind + "/" + name)
}

// writtenAt returns the place where a field was written; if full, with the column, or with
// the reason why the place is not known.
func writtenAt(source *origin.Origin, path string, full bool) string {
	at := source.Place(path, origin.Whole)
	if !full {
		at.Column, at.Why = 0, ""
	}
	switch {
	case at.Found():
		return escape.Line(at.String())
	case at.Path == "" || at.Line == 0:
		return "?"
	case at.Why != "":
		return escape.Line("(" + at.String() + ": " + at.Why + ")")
	}
	return escape.Line("(" + at.String() + ")")
}

// shown returns the content of an object, with values of Secrets masked unless
// opts.ShowSecrets.
func shown(o *render.Object, opts Options) map[string]any {
	content := o.Content()
	if !opts.ShowSecrets {
		report.MaskSecret(content)
	}
	return content
}
