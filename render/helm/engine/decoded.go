package engine

import (
	"sync"

	"sigs.k8s.io/yaml"
)

// decoded are texts of YAML that templates decoded, with what they are: charts decode the same ones in each rendering, and
// often several times. It is safe for concurrent use.
type decoded struct {
	mu    sync.Mutex
	of    map[string]map[string]any
	bytes int
}

// maxDecoded bounds the texts that are kept, in bytes.
const maxDecoded = 256 << 10

func newDecoded() *decoded { return &decoded{of: map[string]map[string]any{}} }

// get returns a copy of what a text decodes to.
func (d *decoded) get(text string) map[string]any {
	d.mu.Lock()
	known, ok := d.of[text]
	d.mu.Unlock()
	if !ok {
		known = decode(text)
		d.keep(text, known)
	}
	if made, ok := copyMap(known); ok {
		return made
	}
	return decode(text)
}

// keep keeps what a text decodes to, in place of all others when they are too large.
func (d *decoded) keep(text string, m map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bytes += len(text); d.bytes > maxDecoded {
		d.of, d.bytes = map[string]map[string]any{}, len(text)
	}
	if len(text) <= maxDecoded {
		d.of[text] = m
	}
}

// decode decodes YAML as Helm does, which says what is wrong with it in the result.
func decode(text string) map[string]any {
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}
