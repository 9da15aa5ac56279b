package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
)

const enc = "ENC[AES256_GCM,data:q83vEg==,iv:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,tag:MDEyMzQ1Njc4OTAxMjM0NQ==,type:str]"

const sopsBlock = `"sops":{"age":[{"enc":"x","recipient":"age1"}],"lastmodified":"2024-01-01T00:00:00Z","mac":"` + enc + `","version":"3.9.0"}`

func TestNewObject(t *testing.T) {
	sealed := render.Unknown{Path: []string{"data", "tls.key"}, Reason: "it is encrypted by SOPS"}
	for name, test := range map[string]struct {
		text, want string
		unknown    []render.Unknown
	}{
		"plain":     {`{"data":{"a":"b"}}`, `{"data":{"a":"b"}}`, nil},
		"encrypted": {`{"data":{"a":"b","tls.key":"` + enc + `"},` + sopsBlock + `}`, `{"data":{"a":"b","tls.key":"` + enc + `"}}`, []render.Unknown{sealed}},
		"element": {`{"spec":{"list":["a",{"b":"` + enc + `"}]},` + sopsBlock + `}`, `{"spec":{"list":["a",{"b":"` + enc + `"}]}}`,
			[]render.Unknown{{Path: []string{"spec", "list", "1", "b"}, Reason: sealed.Reason}}},
		"text about SOPS": {`{"data":{"a":"see ENC[AES256_GCM,...]"},` + sopsBlock + `}`, `{"data":{"a":"see ENC[AES256_GCM,...]"}}`, nil},
		// Values that nobody can decrypt.
		"without metadata": {`{"data":{"a":"` + enc + `"}}`, `{"data":{"a":"` + enc + `"}}`, nil},
		"field named sops": {`{"sops":{"mac":""},"x":"` + enc + `"}`, `{"sops":{"mac":""},"x":"` + enc + `"}`, nil},
		"sops further in":  {`{"spec":{` + sopsBlock + `}}`, `{"spec":{` + sopsBlock + `}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := render.NewObject([]byte(test.text), 3)
			if string(o.JSON) != test.want {
				t.Errorf("%s, want %s", o.JSON, test.want)
			}
			if diff := cmp.Diff(test.unknown, o.Unknown); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	path := func(steps ...string) [][]string { return [][]string{steps} }
	for text, want := range map[string][][]string{
		`{"a":"${X}"}`:                  path("a"),
		`{"a":["b",{"c":"x-${X}-y"}]}`:  path("a", "1", "c"),
		`{"a":"${X:-default}"}`:         path("a"),
		`{"a":"${X:=${Y}}"}`:            path("a"),
		`{"a":"${#X}"}`:                 path("a"),
		`{"a":"$${X} and ${X}"}`:        path("a"),
		`{"a":{"${K}":"v","b":"${X}"}}`: path("a"),
		`{"a":"$${X}"}`:                 nil,
		`{"a":"$X ${1} ${} $(X) {X}"}`:  nil,
		`{"a":1,"b":null,"c":true}`:     nil,
		`{"a":"${X}","b":{"c":"${Y}"}}`: {{"a"}, {"b", "c"}},
	} {
		var got [][]string
		for _, u := range (&render.Object{JSON: []byte(text)}).Variables() {
			got = append(got, u.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
