package scanner_test

import (
	"strings"
	"testing"
)

// TestPatchesNobodyUsesAreNoDenials checks that a disabled patch is not judged as an object, since
// nothing applies it.
func TestPatchesNobodyUsesAreNoDenials(t *testing.T) {
	const patch = `
-- DIR/patches/scale.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 3}
`
	const kustomization = `
-- crd/kustomization.yaml --
resources: [cm.yaml]
# patches: [patches/scale.yaml]
-- crd/cm.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`
	r := mustScan(t, input("", kustomization+strings.Replace(patch, "DIR", "crd", 1)))
	if len(r.Findings) != 0 || len(r.Indeterminate) != 1 {
		t.Fatalf("report %q", reportLines(r))
	}
	why := r.Indeterminate[0].Why
	if !strings.Contains(why, "spec.selector: Required value") || !strings.Contains(why, "it is below the kustomization crd, which does not use it") {
		t.Errorf("indeterminate: %s", why)
	}
	// A manifest outside of any kustomization is meant to be applied.
	r = mustScan(t, input("", kustomization+strings.Replace(patch, "DIR", "apps", 1)))
	if len(r.Findings) != 1 || len(r.Indeterminate) != 0 {
		t.Errorf("report %q", reportLines(r))
	}
}
