package scanner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

const blobs = `
-- crds/blobs.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: blobs.example.com}
spec:
  group: example.com
  names: {kind: Blob, plural: blobs, singular: blob, listKind: BlobList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// TestLargeObjects checks that a server reads at most 3 MiB of a request, that etcd stores at most
// 1.5 MiB of an object including managed fields, and that a tool which writes the manifest to an
// annotation sends more than the manifest.
func TestLargeObjects(t *testing.T) {
	blob := func(fields, size int) string {
		var text strings.Builder
		text.WriteString(blobs + "-- app/b.yaml --\napiVersion: example.com/v1\nkind: Blob\nmetadata: {name: b, namespace: shop}\nspec:\n")
		for i := range fields {
			fmt.Fprintf(&text, "  field-%05d: %s\n", i, strings.Repeat("x", size))
		}
		return text.String()
	}
	const (
		request    = "Request entity too large: limit is 3145728"
		etcd       = "etcdserver: request is too large"
		client     = "trying to send message larger than max ("
		annotation = "metadata.annotations: Too long: may not be more than 262144 bytes"
	)
	for _, test := range []struct {
		fields, size int
		by           apply.Applier
		denied       string
	}{
		{1000, 1_500, apply.Flux, ""},
		{1000, 1_600, apply.Flux, etcd},
		{1000, 2_100, apply.Flux, client},
		{1000, 3_200, apply.Flux, request},
		{1000, 3_200, apply.Replace, request},
		{9000, 150, apply.Flux, etcd}, // 1.43 MiB plus managed fields
		{9000, 150, apply.Replace, etcd},
		{1000, 200, apply.ArgoCD, ""},
		{1000, 300, apply.ArgoCD, annotation},
		{1000, 1_700, apply.Kubectl, request},
	} {
		for what, base := range map[string]string{"new": blobs, "changed": blob(1, 1)} {
			in := input(base, blob(test.fields, test.size))
			in.Config.Applier = string(test.by)
			var denied []string
			r := mustScan(t, in)
			for _, f := range r.Findings {
				denied = append(denied, f.Message)
			}
			for _, i := range r.Indeterminate {
				t.Errorf("%d fields of %d bytes, %s, %s: not judged: %s", test.fields, test.size, test.by, what, i.Why)
			}
			if all := strings.Join(denied, "\n"); test.denied == "" && all != "" || !strings.Contains(all, test.denied) {
				t.Errorf("%d fields of %d bytes, %s, %s: denied %.200q, want %q", test.fields, test.size, test.by, what, all, test.denied)
			}
		}
	}
}
