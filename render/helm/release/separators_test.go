package release

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSeparators compares with the regular expression that Helm uses.
func TestSeparators(t *testing.T) {
	by := regexp.MustCompile(`(?m)^---[ \t]*`)
	parts := []string{"---", "--", "-", "\n", "\n", " ", "\t", "a", "\r\n", "--- # a"}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 5))
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		var want [][2]int
		for _, found := range by.FindAllStringIndex(b.String(), -1) {
			want = append(want, [2]int{found[0], found[1]})
		}
		if got := separators(b.String()); !slices.Equal(got, want) {
			t.Fatalf("%q is cut at %v, want %v", b.String(), got, want)
		}
	}
}
