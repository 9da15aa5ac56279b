package admission

import (
	"os"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/release"
)

// TestKubernetesVersion: the version that reports name is that of the linked modules.
func TestKubernetesVersion(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\tk8s.io/kubernetes " + release.Latest + "\n"; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod does not require k8s.io/kubernetes %s", release.Latest)
	}
	staging := "\tk8s.io/apiserver v0." + strings.TrimPrefix(release.Latest, "v1.") + "\n"
	if !strings.Contains(string(mod), staging) {
		t.Errorf("go.mod does not require%q", staging)
	}
}
