package expressions_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

func TestReads(t *testing.T) {
	tests := []struct {
		expression string
		want       []string
	}{
		{"object.spec.replicas <= int(params.data.max)", []string{"object.spec.replicas", "params.data.max"}},
		{"has(object.spec) && object.spec.replicas > 1", []string{"object.spec.replicas"}},
		{"object.spec.a == 1 || object.spec.a == 2", []string{"object.spec.a"}},
		{"!has(object.metadata.labels) || object.metadata.labels['a.b/c'] == oldObject.metadata.labels['team']",
			[]string{"object.metadata.labels['a.b/c']", "oldObject.metadata.labels.team"}},
		{"object.spec.list[0].x == object.spec.list[size(params)]", []string{"object.spec.list[0].x", "params", "object.spec.list[*]"}},
		{"object.spec.containers.all(c, c.image.startsWith(params.prefix))", []string{"object.spec.containers[*].image", "params.prefix"}},
		{"object.items.exists(i, i.ports.all(p, p.number < 1024))", []string{"object.items[*].ports[*].number"}},
		{"object.spec.containers.map(c, c.name).size() > 0", []string{"object.spec.containers[*].name"}},
		{"object.spec.list.filter(r, r.key == 'a').all(r, r.values.all(v, v != params.x))",
			[]string{"object.spec.list[*].key", "object.spec.list[*].values[*]", "params.x"}},
		{"object.spec.list.map(r, r.key).exists(k, k.name == 'a')", []string{"object.spec.list[*].key.name"}},
		{"object.spec.list.map(r, r.on, r.key).all(k, k.name == 'a')", []string{"object.spec.list[*].on", "object.spec.list[*].key.name"}},
		{"(object.a + object.b).all(x, x.name == 'a')", []string{"object.a", "object.b"}},
		{"object.metadata.labels.all(k, v, k != v)", []string{"object.metadata.labels[*]"}},
		{"object.?spec.?replicas.orValue(1) > 1", []string{"object.spec.replicas"}},
		{"object.metadata.?labels[?'a'].value() == 'b'", []string{"object.metadata.labels.a"}},
		{"object.?spec.optMap(s, s.replicas).orValue(0) > 1", []string{"object.spec.replicas"}},
		{"request.operation in ['CREATE', namespaceObject.metadata.name]", []string{"request.operation", "namespaceObject.metadata.name"}},
		{"{'a': object.x}['a'] == [object.y][0]", []string{"object.x", "object.y"}},
		{"Object{spec: Object.spec{replicas: object.z}} != null", []string{"object.z"}},
		{"1 == 2", nil},
	}
	for _, test := range tests {
		paths, err := expressions.Reads(test.expression)
		if err != nil {
			t.Errorf("%s: %v", test.expression, err)
			continue
		}
		var got []string
		for _, p := range paths {
			got = append(got, p.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.expression, diff)
		}
	}
	values, tests2, err := expressions.Depends("has(object.spec) && object.spec == oldObject.spec && object.spec.a.all(x, has(x.b) || x.c == params)")
	got := fmt.Sprint(values, tests2, err)
	if want := "[object.spec oldObject.spec object.spec.a object.spec.a[*].c params] [object.spec object.spec.a[*].b] <nil>"; got != want {
		t.Errorf("depends on %s, want %s", got, want)
	}
	if _, _, err := expressions.Depends("object.("); err == nil {
		t.Error("an expression that does not parse has dependencies")
	}
	if _, err := expressions.Reads("object.("); err == nil {
		t.Error("an expression that does not parse has reads")
	}
}
