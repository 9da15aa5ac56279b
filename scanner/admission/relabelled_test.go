package admission

import (
	"slices"
	"testing"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// TestRelabelledNamespace: an update that enforces a stricter level on a namespace warns of the Pods
// in it, if they are known.
func TestRelabelledNamespace(t *testing.T) {
	pod := object(t, "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: a, securityContext: {privileged: true}}]}}")
	old := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	head := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}}")
	for _, test := range []struct {
		known kinds.Complete
		want  []string
	}{
		{kinds.CompleteAll(), []string{`existing pods in namespace "shop" violate the new PodSecurity enforce level "baseline:latest"`, "p: privileged"}},
		{kinds.Complete{}, nil},
	} {
		c := NewCluster(ClusterOptions{Known: test.known}, NewIndex([]*Object{pod, old}))
		_, warned, err := c.Prepare(t.Context(), ask("UPDATE", head, old))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(warned, test.want) {
			t.Errorf("warned %q, want %q", warned, test.want)
		}
	}
}
