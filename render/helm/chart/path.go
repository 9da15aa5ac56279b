package chart

// At returns what a path of keys and indexes leads to among values; ok is false if that is not there.
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

// Put sets what a path leads to among values. Mappings on the way that are not there are made.
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
