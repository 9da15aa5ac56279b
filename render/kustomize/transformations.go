package kustomize

import (
	"slices"
	"sync/atomic"

	"sigs.k8s.io/kustomize/api/resource"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render/kustomize/build"
)

// If a root sets buildMetadata, kustomize records the transformers that each resource has passed in an
// annotation. The builds that find lines need origins only, and kustomize removes these records at the end.
// But at each transformer it decodes the list of each resource and encodes it again with one more entry: most
// of the time of a build with many patches. So the list is left empty, unless a build of kustomizations is
// running that set buildMetadata themselves.

// noting is the number of running builds that may output or read the records.
var noting atomic.Int32

// Only at initialisation no other goroutine can be calling the replaced function.
var _ = replaceMarshal()

// replaceMarshal replaces kustomize's function for encoding annotations. It changes only the lists of
// transformations.
func replaceMarshal() bool {
	marshal := kyaml.Marshal
	kyaml.Marshal = func(in any) ([]byte, error) {
		if _, ok := in.(*resource.Transformations); ok && noting.Load() == 0 {
			return []byte("[]\n"), nil
		}
		return marshal(in)
	}
	return true
}

// note makes kustomize record transformations until done is called, if a kustomization sets buildMetadata.
func note(c *build.Closure) (done func()) {
	asks := func(k *build.Kustomization) bool { return k.Err != nil || len(k.Spec.BuildMetadata) > 0 }
	if !slices.ContainsFunc(c.Files, asks) {
		return func() {}
	}
	noting.Add(1)
	return func() { noting.Add(-1) }
}
