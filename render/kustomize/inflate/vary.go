package inflate

import (
	"bytes"
	"strconv"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Vary replaces the unknown values of charts with other values, and returns why they are unknown; "" when all
// are known.
func Vary(charts []*Chart) (reason string) {
	for _, c := range charts {
		varied := false
		var text bytes.Buffer
		for _, o := range c.Objects {
			document := textOf(o)
			if len(o.Unknown) > 0 {
				content := (&render.Object{JSON: o.JSON}).Content()
				for _, u := range o.Unknown {
					content = vary(content, u.Path)
					reason = u.Reason
				}
				document, varied = string(tree.Encode(content))+"\n", true
			}
			text.WriteString("---\n" + document)
		}
		if varied {
			c.Text = text.Bytes()
		}
	}
	return reason
}

// vary returns an object with another value at a path. The object keeps its apiVersion and kind.
func vary(object map[string]any, path []string) map[string]any {
	out, _ := varied(object, path).(map[string]any)
	if len(path) == 0 {
		out["apiVersion"], out["kind"] = object["apiVersion"], object["kind"]
	}
	return out
}

// varied returns a value with another one at a path. If that is a map or list, it also has one more key or
// element, since those of the unknown one are not known.
func varied(at any, path []string) any {
	if len(path) == 0 {
		switch v := other(at).(type) {
		case map[string]any:
			key := "x"
			for v[key] != nil {
				key += "x"
			}
			v[key] = "x"
			return v
		case []any:
			var last any
			if len(v) > 0 {
				last = v[len(v)-1]
			}
			return append(v, other(last))
		default:
			return v
		}
	}
	switch v := at.(type) {
	case map[string]any:
		if inner, ok := v[path[0]]; ok {
			v[path[0]] = varied(inner, path[1:])
		}
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(v) {
			v[i] = varied(v[i], path[1:])
		}
	}
	return at
}

// other returns a copy of a value with other scalars.
func other(at any) any {
	switch v := at.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = other(inner)
		}
		return out
	case []any:
		var out []any
		for _, inner := range v {
			out = append(out, other(inner))
		}
		return out
	case string:
		return v + "x"
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 1
	}
	return "x"
}
