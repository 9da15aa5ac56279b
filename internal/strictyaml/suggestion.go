package strictyaml

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/internal/levenshtein"
)

// Suggestion returns a suffix for "unknown ...": a suggestion of the nearest known word, or a list of
// all if none is near.
func Suggestion(word string, known []string) string {
	best, distance := "", len(word)/2+1
	for _, k := range known {
		if d := levenshtein.Distance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ", known are " + strings.Join(known, ", ")
}
