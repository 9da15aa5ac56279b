package expressions_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

func TestStructs(t *testing.T) {
	tests := []struct {
		expression string
		want       []string
	}{
		{"object.spec", nil},
		{"Object{spec: Object.spec{replicas: 3}}", []string{"Object 1:1 spec@1:8=4[Object.spec]", "Object.spec 1:14 replicas@1:26=0[]"}},
		{"[JSONPatch{\n  op: 'add', path : '/a/' + 'b/-'}]", []string{"JSONPatch 1:2 op@2:3=1[]'add' path@2:14=0[]...b/-"}},
		{"Object{l: [Object.l{}, Object.x{}], m: {'ü': Object.m{}}, n: object.n}",
			[]string{"Object 1:1 l@1:8=2[Object.l Object.x] m@1:37=3[Object.m] n@1:59=0[]", "Object.l 1:12", "Object.x 1:24", "Object.m 1:46"}},
		{"has(object.a) ? Object{a: object.a.map(x, Object.a{name: x})} : Object{}",
			[]string{"Object 1:17 a@1:24=0[]", "Object.a 1:43 name@1:52=0[]", "Object 1:65"}},
	}
	for _, test := range tests {
		structs, err := expressions.Structs(test.expression)
		if err != nil {
			t.Errorf("%s: %v", test.expression, err)
			continue
		}
		var got []string
		for _, s := range structs {
			text := fmt.Sprintf("%s %d:%d", s.Type, s.Line, s.Column)
			for _, f := range s.Fields {
				text += fmt.Sprintf(" %s@%d:%d=%d%v", f.Name, f.Line, f.Column, f.Value, f.Types)
				if f.Text != "" {
					text += "'" + f.Text + "'"
				} else if f.Tail != "" {
					text += "..." + f.Tail
				}
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.expression, diff)
		}
	}
	if _, err := expressions.Structs("Object{"); err == nil {
		t.Error("an expression that does not parse has structs")
	}
}
