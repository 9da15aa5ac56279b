package chart

// At returns the value at a path of keys and indexes; ok is false if it does not exist.
func At(v any, path []any) (found any, ok bool) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[step]; !ok {
				return nil, false
			}
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return nil, false
			}
			v = list[step]
		}
	}
	return v, true
}

// Put sets the value at a path. It creates missing mappings.
func Put(v any, path []any, value any) {
	for i, step := range path {
		last := i == len(path)-1
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return
			}
			if last {
				m[step] = value
				return
			}
			if m[step] == nil {
				m[step] = map[string]any{}
			}
			v = m[step]
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return
			}
			if last {
				list[step] = value
				return
			}
			v = list[step]
		}
	}
}
