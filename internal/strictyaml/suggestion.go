package strictyaml

import (
	"fmt"
	"strings"
)

// Suggestion returns what to append to "unknown ...": the nearest known word, or all of
// them when none is near.
func Suggestion(word string, known []string) string {
	best, distance := "", len(word)/2+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ", known are " + strings.Join(known, ", ")
}

// editDistance returns the number of insertions, deletions and replacements that turn a
// into b (Levenshtein).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}
