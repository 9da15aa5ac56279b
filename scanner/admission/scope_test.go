package admission

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render/scope"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// TestScopes: package scope, which renderers use, knows for all kinds of the API server whether they are
// namespaced.
func TestScopes(t *testing.T) {
	resources := NewCluster(ClusterOptions{}, NewIndex(nil)).Resources()
	if len(resources) < 60 {
		t.Fatalf("%d resources", len(resources))
	}
	for _, r := range resources {
		if r.Kind.Group == "authorization.k8s.io" || r.Kind.Group == "authentication.k8s.io" {
			continue // not in manifests
		}
		namespaced, known := scope.Namespaced(r.Kind.GroupVersion().String(), r.Kind.Kind)
		if !known || namespaced != r.Namespaced {
			t.Errorf("%s: namespaced %t, known %t", r.Kind, namespaced, known)
		}
	}
}

// TestServed: the API versions that charts see are those of an API server's discovery, from the version on
// that introduced them.
func TestServed(t *testing.T) {
	want := map[string]bool{}
	for _, r := range NewCluster(ClusterOptions{}, NewIndex(nil)).Resources() {
		gv := r.Kind.GroupVersion().String()
		want[gv], want[gv+"/"+r.Kind.Kind] = true, true
		for _, kind := range r.Subresources {
			want[gv+"/"+kind.Kind] = true
		}
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := gocmp.Diff(names, scope.Served(builtin.KubernetesVersion())); diff != "" {
		t.Errorf("(-discovery +table):\n%s", diff)
	}
	oldest := scope.Served("1.33")
	for _, name := range names {
		at := strings.LastIndex(name, "/")
		if kind := name[at+1:]; at < 0 || kind == strings.ToLower(kind) {
			continue // a group with its version
		}
		gv, err := schema.ParseGroupVersion(name[:at])
		if err != nil {
			t.Fatal(err)
		}
		obj, err := builtin.CodecOf(gv.Group).Scheme.New(gv.WithKind(name[at+1:]))
		introduced, ok := obj.(interface{ APILifecycleIntroduced() (major, minor int) })
		if err != nil || !ok {
			continue
		}
		_, minor := introduced.APILifecycleIntroduced()
		if has := slices.Contains(oldest, name); has != (minor <= 33) || has != scope.ServedByAll(name) {
			t.Errorf("%s was introduced in 1.%d, and 1.33 has it: %t", name, minor, has)
		}
	}
}
