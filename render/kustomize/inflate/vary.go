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
					vary(content, u.Path)
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

// vary changes all scalars at or below a path.
func vary(at any, path []string) any {
	switch v := at.(type) {
	case map[string]any:
		for key, inner := range v {
			if len(path) == 0 && key != "apiVersion" && key != "kind" {
				v[key] = vary(inner, nil)
			} else if len(path) > 0 && key == path[0] {
				v[key] = vary(inner, path[1:])
			}
		}
		return v
	case []any:
		for i, inner := range v {
			if len(path) == 0 || path[0] == strconv.Itoa(i) {
				v[i] = vary(inner, path[min(1, len(path)):])
			}
		}
		return v
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
