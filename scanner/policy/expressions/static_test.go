package expressions

import "testing"

func TestEstimate(t *testing.T) {
	tests := []struct {
		name, expression string
		size             uint64
		least, most      uint64
	}{
		{"no loop", "object.spec.replicas > 1", 1000, 1, 10},
		{"one loop", "object.items.all(i, i > 1)", 1000, 1000, 20_000},
		{"two loops", "object.a.all(a, object.b.all(b, a != b))", 100, 10_000, 200_000},
		{"a variable's own cost is not part of it", "variables.dear", 1000, 1, 10},
		{"the API server's functions have their costs", "object.name.lowerAscii() == 'a'", 1000, 100, 1000},
		{"what nobody can know is unbounded", "lists.range(object.n).all(i, i > 0)", 10, 1 << 60, Unbounded},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Estimate(test.expression, test.size)
			if err != nil {
				t.Fatal(err)
			}
			if got < test.least || got > test.most {
				t.Errorf("Estimate(%q, %d) = %d, want %d to %d", test.expression, test.size, got, test.least, test.most)
			}
		})
	}
	if _, err := Estimate("object.", 1); err == nil {
		t.Error("what does not parse has an estimate")
	}
}

func TestConstant(t *testing.T) {
	for expression, want := range map[string][2]bool{
		"true": {true, true}, " false\n": {false, true}, "!true": {}, "'false'": {}, "object.x": {}, "(": {},
	} {
		if value, ok := Constant(expression); value != want[0] || ok != want[1] {
			t.Errorf("Constant(%q) = %v, %v; want %v", expression, value, ok, want)
		}
	}
}
