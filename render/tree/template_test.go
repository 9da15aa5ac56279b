package tree

import "testing"

func TestFirstStatement(t *testing.T) {
	for text, want := range map[string]int{
		"a: {{ .x }}\n":                                       1,
		"a:\n- {{ .x }}\n":                                    2,
		"a:\n- b: c\n  d: {{ x }}\n":                          3,
		"{{ if .x }}\na: b\n{{ end }}\n":                      1,
		"a:\n  {{- toYaml .x | nindent 2 }}\n":                2,
		"{{ .x }}: b\n":                                       1,
		"\"a b\": {{ .x }}\n":                                 1,
		"a: [{{ .x }}, {{ .y }}]\n":                           1,
		"a: {b: {{ .x }}}\n":                                  1,
		"- {b: \"{{ .x }}\", c: {{ .y }}}\n":                  1,
		"a: {b: \"{{ .x }}\"\n":                               0,
		"a: b: {{ .x }}\n":                                    0,
		"a: b, {{ .x }}\n c: d\n":                             0,
		"a: !tag &b {{ .x }}\n":                               1,
		"{% for a in b %}\n- a\n{% endfor %}\n":               1,
		"<% if a %>\nb: c\n<% end %>\n":                       1,
		"a:\n<#if b>\n  c: d\n</#if>\n":                       2,
		"a: |\n  b\n{{ .x }}\n":                               3,
		"- a: |\n    {{ .x }}\n  b: {{ .y }}\n":               3,
		"- |\n  b\n- {{ .x }}\n":                              3,
		"a: \"{{ $labels.x }}\"\n b: c\n":                     0,
		"a: '{{ $labels.x }}'\n b: c\n":                       0,
		"a: on {{ $labels.x }}\n b: c\n":                      0,
		"# {{ .x }}\na: b\n c: d\n":                           0,
		"a: |\n  {{ range .x }}\n  b\n\n  {{ end }}\n c: d\n": 0,
		"a: >-  # text\n  {{ .x }}\n b: c\n":                  0,
		"- a: |-2\n    {{ .x }}\n b\n":                        0,
		"- |\n  {{ .x }}\n b\n":                               0,
		"a: b | c\n  {{ .x }}\n":                              2,
		"a: <none>\n b: c\n":                                  0,
		"":                                                    0,
	} {
		if got := firstStatement([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
