package components_test

import (
	"reflect"
	"testing"

	"github.com/preadmit/preadmit/render/deploy/components"
)

func TestSources(t *testing.T) {
	for name, test := range map[string]struct {
		edges [][]int
		want  [][]int
	}{
		"none":                   {nil, nil},
		"alone":                  {[][]int{nil, nil}, [][]int{{0}, {1}}},
		"to itself":              {[][]int{{0}}, [][]int{{0}}},
		"a chain":                {[][]int{{1}, {2}, nil}, [][]int{{0}}},
		"a cycle":                {[][]int{{1}, {2}, {0}}, [][]int{{0, 1, 2}}},
		"a cycle below another":  {[][]int{{1}, {0, 2}, {3}, {2}}, [][]int{{0, 1}}},
		"two that apply a third": {[][]int{{2}, {2}, nil}, [][]int{{0}, {1}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := components.Sources(len(test.edges), func(i int) []int { return test.edges[i] })
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
