package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

func TestQueried(t *testing.T) {
	tests := map[string]struct {
		want []string
		any  bool
	}{
		`.spec.replicas`:                             {want: []string{"spec.replicas"}},
		`.metadata.annotations["a.b/c"]`:             {want: []string{"metadata.annotations.a.b/c"}},
		`.data."tls.crt"`:                            {want: []string{"data.tls.crt"}},
		`.webhooks[]?.clientConfig.caBundle`:         {want: []string{"webhooks.[].clientConfig.caBundle"}},
		`.webhooks[0].clientConfig`:                  {want: []string{"webhooks.[].clientConfig"}},
		`.a[1:].b`:                                   {want: []string{"a.[].b"}},
		`.a[] | select(.name == "x") | .b`:           {want: []string{"a.[].b"}},
		`.a[] | select(.name | startswith("x")).b.c`: {want: []string{"a.[].b.c"}},
		`(.a, .b) | .c`:                              {want: []string{"a.c", "b.c"}},
		`.a // .b`:                                   {want: []string{"a", "b"}},
		`.`:                                          {want: []string{""}},
		`..`:                                         {any: true},
		`paths`:                                      {any: true},
		`.a | to_entries[] | .value`:                 {any: true},
		`if .a then .b else .c end`:                  {any: true},
		`def f: .a; f`:                               {any: true},
		`.a as $x | .b`:                              {any: true},
		`."\(.a)"`:                                   {any: true},
		"." + strings.Repeat("a.", longestPath) + "a": {any: true},
		strings.Repeat("(.a,.b)|", 10) + "(.a,.b)":    {any: true},
	}
	for expression, test := range tests {
		query, err := gojq.Parse(expression)
		if err != nil {
			t.Errorf("%.80s: %v", expression, err)
			continue
		}
		paths, ok := queried(query)
		var got []string
		for _, path := range paths {
			got = append(got, strings.Join(path, "."))
		}
		if ok == test.any || ok && !slices.Equal(got, test.want) {
			t.Errorf("%.80s: got %v, %v; want %v", expression, got, ok, test.want)
		}
	}
}

func TestPointed(t *testing.T) {
	for pointer, want := range map[string][]string{
		"/spec/replicas": {"spec", "replicas"},
		"/metadata/annotations/example.com~1a~01": {"metadata", "annotations", "example.com/a~1"},
		"spec/replicas": nil,
		"":              nil,
	} {
		if got, ok := pointed(pointer); ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v; want %v", pointer, got, ok, want)
		}
	}
}
