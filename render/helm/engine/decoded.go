package engine

import (
	"sync"

	"sigs.k8s.io/yaml"
)

// decoded caches decoded YAML texts: charts decode the same ones in each rendering, and often several times.
// It is safe for concurrent use.
type decoded struct {
	mu    sync.Mutex
	of    map[string]map[string]any
	bytes int
}

// maxDecoded limits the texts that are kept, in bytes.
const maxDecoded = 256 << 10

func newDecoded() *decoded { return &decoded{of: map[string]map[string]any{}} }

// get returns a copy of a decoded text.
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

// keep stores a decoded text. It drops all others when they get too large.
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

// decode decodes YAML as Helm does, which returns errors in the result.
func decode(text string) map[string]any {
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}
