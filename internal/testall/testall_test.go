package testall_test

import (
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
