package helm

import (
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
)

// maxKept bounds the output of templates that is kept, in bytes.
const maxKept = 8 << 20

// kept are roots as they were rendered, for who wants to know where their objects come from.
type kept struct {
	mu    sync.Mutex
	of    map[*render.Unit]*release.Rendered
	bytes int
}

// keep keeps what a unit renders to, if there is room for it.
func (k *kept) keep(u *render.Unit, rendered *release.Rendered) {
	size := outputOf(rendered)
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.of[u]; !known && k.bytes+size <= maxKept {
		k.of[u] = rendered
		k.bytes += size
	}
}

// take returns what was kept of a unit, for one user only: following a trace changes it.
func (k *kept) take(u *render.Unit) *release.Rendered {
	k.mu.Lock()
	defer k.mu.Unlock()
	rendered := k.of[u]
	if rendered != nil {
		delete(k.of, u)
		k.bytes -= outputOf(rendered)
	}
	return rendered
}

func outputOf(rendered *release.Rendered) int {
	size := 0
	for _, f := range rendered.Files {
		size += len(f.Text)
	}
	return size
}
