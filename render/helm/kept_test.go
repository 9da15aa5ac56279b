package helm

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
)

// TestKept checks that once more is known of the cluster, the new release of a root replaces the old one.
func TestKept(t *testing.T) {
	large := func() *release.Rendered {
		return &release.Rendered{Files: []*engine.File{{Text: strings.Repeat("x", maxKept*2/3)}}}
	}
	first, second := render.Root{RootID: render.RootID{Dir: "a"}, Unit: &render.Unit{}}, render.Root{RootID: render.RootID{Dir: "a"}, Unit: &render.Unit{}}
	other := render.Root{RootID: render.RootID{Dir: "b"}, Unit: &render.Unit{}}
	k := &kept{of: map[render.RootID]keptRelease{}}
	before, after := large(), large()
	k.keep(first, before)
	k.keep(second, after)
	k.keep(second, before)
	k.keep(other, large())
	if k.take(first) != nil || k.take(other) != nil || k.take(second) != after {
		t.Error("what is kept is not what the root was rendered to last")
	}
	if k.take(second) != nil || k.bytes != 0 || len(k.of) != 0 {
		t.Errorf("%d bytes of %d roots are kept after they were taken", k.bytes, len(k.of))
	}
}
