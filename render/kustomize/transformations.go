package kustomize

import (
	"slices"
	"sync/atomic"

	"sigs.k8s.io/kustomize/api/resource"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/preadmit/preadmit/render/kustomize/build"
)

// Kustomize notes in an annotation of each resource which transformers it has passed, if a root asks for
// any metadata of its build. The builds that find lines ask for origins, and have no use for these notes,
// which kustomize removes in the end. But at each transformer it decodes the list of each resource, and
// encodes it again with one entry more: most of the time of a build with many patches. So the list is left
// empty, unless a build of kustomizations is running that ask for metadata themselves.

// noting counts the builds that are running and may show the notes, or read them on the way.
var noting atomic.Int32

// An initialisation is the only time to replace what other goroutines may be calling.
var _ = replaceMarshal()

// replaceMarshal replaces the function by which kustomize encodes annotations. Everything but the lists of
// transformations it encodes as before.
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

// note has kustomize note transformations until done is called, if a kustomization asks for metadata of its
// build.
func note(c *build.Closure) (done func()) {
	asks := func(k *build.Kustomization) bool { return k.Err != nil || len(k.Spec.BuildMetadata) > 0 }
	if !slices.ContainsFunc(c.Files, asks) {
		return func() {}
	}
	noting.Add(1)
	return func() { noting.Add(-1) }
}
