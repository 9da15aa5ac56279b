package refusal

import (
	"slices"
	"strings"
)

// orderedLimits sorts the LimitRanger's messages about several resources by resource name: it
// iterates over maps in random order. Messages about different kinds of limits keep their order.
func orderedLimits(message string) string {
	head, list, ok := strings.Cut(message, " is forbidden: [")
	if !ok || !strings.HasSuffix(list, "]") {
		return message
	}
	var limits []string
	for _, part := range strings.Split(strings.TrimSuffix(list, "]"), ", ") {
		if len(limits) > 0 && strings.HasPrefix(part, "but ") {
			limits[len(limits)-1] += ", " + part
			continue
		}
		limits = append(limits, part)
	}
	for start := 0; start < len(limits); {
		end := start + 1
		for end < len(limits) && limitKind(limits[end]) == limitKind(limits[start]) {
			end++
		}
		slices.Sort(limits[start:end])
		start = end
	}
	return head + " is forbidden: [" + strings.Join(limits, ", ") + "]"
}

// limitKind returns a limit's message without its resource and its numbers.
func limitKind(text string) string {
	words := strings.Fields(text)
	switch {
	case len(words) > 4 && (words[0] == "minimum" || words[0] == "maximum"):
		return words[0] + " " + words[4] // maximum cpu usage per Pod
	case len(words) > 7 && words[1] == "max":
		return words[1] + " " + words[7] // cpu max limit to request ratio per Pod
	}
	return text
}
