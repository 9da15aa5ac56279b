package kinds

import (
	_ "embed"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// knownKinds lists kinds that are known by name if nothing defines them.
//
//go:embed known.txt
var knownKinds string

// Known describes how an API server serves a kind that is known by name, without its
// CustomResourceDefinition and so without a schema.
type Known struct {
	Plural     string
	Namespaced bool
}

// ByName returns a kind that is known by name; ok is false for others.
func ByName(kind schema.GroupKind) (known Known, ok bool) {
	known, ok = byName()[kind]
	return known, ok
}

var byName = sync.OnceValue(func() map[schema.GroupKind]Known {
	all := map[schema.GroupKind]Known{}
	for line := range strings.Lines(knownKinds) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		for _, word := range words[2:] {
			kind, plural, _ := strings.Cut(word, "/")
			all[schema.GroupKind{Group: words[0], Kind: kind}] = Known{Plural: plural, Namespaced: words[1] == "N"}
		}
	}
	return all
})
