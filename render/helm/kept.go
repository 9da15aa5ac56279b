package helm

import (
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
)

// maxKept limits the output of templates that is kept, in bytes.
const maxKept = 8 << 20

// kept holds rendered releases of roots, for finding where their objects come from.
type kept struct {
	mu    sync.Mutex
	of    map[render.RootID]keptRelease
	bytes int
}

// keptRelease is a rendered release and its unit: a root gets another unit once more is known of the cluster.
type keptRelease struct {
	unit     *render.Unit
	rendered *release.Rendered
}

// keep stores a rendered release if there is room for it. A release of the same unit is not replaced.
func (k *kept) keep(root render.Root, rendered *release.Rendered) {
	id, size := root.RootID, outputOf(rendered)
	k.mu.Lock()
	defer k.mu.Unlock()
	if before, ok := k.of[id]; ok {
		if before.unit == root.Unit {
			return
		}
		k.drop(id)
	}
	if k.bytes+size <= maxKept {
		k.of[id] = keptRelease{root.Unit, rendered}
		k.bytes += size
	}
}

func (k *kept) drop(id render.RootID) {
	k.bytes -= outputOf(k.of[id].rendered)
	delete(k.of, id)
}

// take returns and removes the kept release of a root: only one caller may use it, as following a trace
// changes it.
func (k *kept) take(root render.Root) *release.Rendered {
	k.mu.Lock()
	defer k.mu.Unlock()
	of, ok := k.of[root.RootID]
	if !ok || of.unit != root.Unit {
		return nil
	}
	k.drop(root.RootID)
	return of.rendered
}

func outputOf(rendered *release.Rendered) int {
	size := 0
	for _, f := range rendered.Files {
		size += len(f.Text)
	}
	return size
}
