package levenshtein

import "testing"

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"deny", "deny", 0}, {"deny", "dney", 2}, {"", "deny", 4}, {"deny", "", 4},
		{"deny", "denied", 3}, {"ä", "a", 1}, {"kitten", "sitting", 3},
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
