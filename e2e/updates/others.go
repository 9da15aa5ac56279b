package updates

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/runtime"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Others returns a merge patch to the base of an update, with the changes that others make to the object
// before its head is applied.
func (g *Generator) Others(number uint64, base map[string]any) (map[string]any, error) {
	c := &change{Rand: rand.New(rand.NewPCG(number, 2)), values: g.values}
	written := runtime.DeepCopyJSON(base)
	for range 1 + c.IntN(2) {
		c.object(written)
	}
	harmless(written)
	before, err := json.Marshal(base)
	if err != nil {
		return nil, fmt.Errorf("encode the base: %w", err)
	}
	after, err := json.Marshal(written)
	if err != nil {
		return nil, fmt.Errorf("encode what others write: %w", err)
	}
	text, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare what others write: %w", err)
	}
	var patch map[string]any
	return patch, json.Unmarshal(text, &patch)
}
