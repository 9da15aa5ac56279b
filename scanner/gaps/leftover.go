package gaps

import (
	"fmt"
	"path"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// Leftover returns why the refusal of an object may not matter: its manifest is below a
// kustomization that does not use it, so it may be a disabled patch or a sample, incomplete by
// itself. It returns "" otherwise.
func Leftover(o *admission.Object) string {
	from := change.OriginOf(o)
	if from.Extra() || from.Root.Kind != render.KindPlain {
		return ""
	}
	for dir := path.Dir(from.Root.Dir); dir != "."; dir = path.Dir(dir) {
		if from.Side.HasKustomization(dir) {
			return fmt.Sprintf("it is below the kustomization %s, which does not use it, and is not a complete object: probably a patch, or not used any more", dir)
		}
	}
	return ""
}
