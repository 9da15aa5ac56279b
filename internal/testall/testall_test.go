package testall_test

import (
	"slices"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
)

func TestLong(t *testing.T) {
	for value, runs := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv(testall.Variable, value)
		ran := false
		t.Run("test", func(t *testing.T) {
			testall.Long(t)
			ran = true
		})
		if ran != runs {
			t.Errorf("%s=%q: a long test ran: %t, want %t", testall.Variable, value, ran, runs)
		}
	}
}

func TestCount(t *testing.T) {
	for value, want := range map[string]int{"": 3, "1": 300} {
		t.Setenv(testall.Variable, value)
		if got := testall.Count(3, 300); got != want {
			t.Errorf("%s=%q: %d cases, want %d", testall.Variable, value, got, want)
		}
	}
}

func TestSample(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6}
	for _, test := range []struct {
		value string
		few   int
		want  []int
	}{
		{"", 3, []int{0, 2, 4}}, {"", 7, all}, {"", 8, all}, {"1", 3, all},
	} {
		t.Setenv(testall.Variable, test.value)
		if got := testall.Sample(all, test.few); !slices.Equal(got, test.want) {
			t.Errorf("%s=%q: %d of them are %v, want %v", testall.Variable, test.value, test.few, got, test.want)
		}
	}
}
