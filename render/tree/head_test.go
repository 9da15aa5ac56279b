package tree

import "testing"

func TestHead(t *testing.T) {
	tests := []struct {
		object, apiVersion, kind, rest string
		ok                             bool
	}{
		{`{"apiVersion":"v1","kind":"Pod","metadata":{}}`, "v1", "Pod", `,"metadata":{}}`, true},
		{`{"apiVersion":"v1","kind":"Pod"}`, "v1", "Pod", "}", true},
		{`{"apiVersion":"v1","items":[],"kind":"List"}`, "", "", "", false},
		{`{"apiVersion":"v1","kind":"P\"od"}`, "", "", "", false},
		{`{"apiVersion":1,"kind":"Pod"}`, "", "", "", false},
		{`{"apiVersion":"v1","kind":"Po`, "", "", "", false},
		{`{"KIND":"Pod","apiVersion":"v1"}`, "", "", "", false},
		{``, "", "", "", false},
	}
	for _, test := range tests {
		apiVersion, kind, rest, ok := Head([]byte(test.object))
		if ok != test.ok || ok && (string(apiVersion) != test.apiVersion || string(kind) != test.kind || string(rest) != test.rest) {
			t.Errorf("%s: got %q, %q, %q, %v", test.object, apiVersion, kind, rest, ok)
		}
	}
}

func TestFirstObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1},"b":{}}`:           `{"a":1}`,
		`{}`:                        `{}`,
		`{"a":{"b":{}},"c":[{}]}}}`: `{"a":{"b":{}},"c":[{}]}`,
		`{"a":"}","b":"\"}\\"},{}`:  `{"a":"}","b":"\"}\\"}`,
		`{"a":{}`:                   ``,
		`{"a`:                       ``,
		`{"a\`:                      ``,
		`"a",{}`:                    ``,
		`null}`:                     ``,
		``:                          ``,
	} {
		if got := string(FirstObject([]byte(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
