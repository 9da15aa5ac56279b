package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// builtins returns the names of text/template's functions, for the parser.
func builtins() map[string]any {
	names := map[string]any{}
	for name := range strings.FieldsSeq("and call html index js len not or print printf println slice urlquery eq ge gt le lt ne") {
		names[name] = true
	}
	return names
}

// functionNames returns the functions that charts may call, for the parser.
func functionNames() template.FuncMap {
	r := newRun(context.Background(), nil, Options{})
	names := r.functions(nil)
	for name := range r.tracing() {
		delete(names, name)
	}
	return names
}

// functions returns the functions that charts may call: sprig's functions, those that Helm adds, and
// deterministic replacements for some. Functions that may cost more than reading their arguments are bounded.
func (r *run) functions(root *template.Template) template.FuncMap {
	f := sprig.TxtFuncMap()
	delete(f, "env")
	delete(f, "expandenv")
	maps.Copy(f, formats(r.decoded()))
	maps.Copy(f, r.chance.functions())
	maps.Copy(f, copying(f))
	maps.Copy(f, template.FuncMap{
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
		"getHostByName": func(string) string { return "" },
		"required":      required,
		"fail":          func(message string) (string, error) { return "", errors.New(message) },
	})
	for name, fn := range f {
		f[name] = r.bounded(name, fn)
	}
	maps.Copy(f, template.FuncMap{"include": r.include(root), "tpl": r.tpl(root)})
	maps.Copy(f, r.tracing())
	return f
}

// required returns an error for nil and the empty text.
func required(message string, value any) (any, error) {
	if value == nil || value == "" {
		return value, errors.New(message)
	}
	return value, nil
}

// copying returns replacements for sprig's functions that copy values, which are faster.
func copying(f template.FuncMap) template.FuncMap {
	plain, must := f["deepCopy"].(func(any) any), f["mustDeepCopy"].(func(any) (any, error))
	return template.FuncMap{
		"deepCopy": func(v any) any {
			if made, ok := copyPlain(v); ok {
				return made
			}
			return plain(v)
		},
		"mustDeepCopy": func(v any) (any, error) {
			if made, ok := copyPlain(v); ok {
				return made, nil
			}
			return must(v)
		},
	}
}
