package scanner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/scanner"
)

const proofPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: labels}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}
  validations:
  - expression: object.metadata.labels.team != 'red'
  - expression: object.data.k == ''
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: labels}
spec: {policyName: labels, validationActions: [Deny]}
`

// BenchmarkProof scans a root of many objects with a finding each. In the first case no line needs
// proof; in the second all are on one line, which one run proves; in the last each has its own
// line, and as many are proven as a scan may.
func BenchmarkProof(b *testing.B) {
	const resource, all = "resources: [all.yaml, policy.yaml]\n", "labels: [{pairs: {team: red}}]\n"
	const object = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, labels: {team: %s}}\ndata: {k: \"\"}\n"
	const generator = "- {name: c%d, literals: [k=v], options: {labels: {team: blue}}}\n"
	for _, n := range []int{10, 300} {
		var red, blue, generated strings.Builder
		for i := range n {
			fmt.Fprintf(&red, object, i, "red")
			fmt.Fprintf(&blue, object, i, "blue")
			fmt.Fprintf(&generated, generator, i)
		}
		for _, way := range []struct{ name, kustomization, objects string }{
			{"no proof", resource, red.String()},
			{"one line", resource + all, blue.String()},
			{"a line each", "resources: [policy.yaml]\nconfigMapGenerator:\n" + generated.String(), ""},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, way.name), func(b *testing.B) {
				benchmarkProof(b, fstest.MapFS{
					"app/kustomization.yaml": {Data: []byte(way.kustomization)},
					"app/policy.yaml":        {Data: []byte(proofPolicy)},
					"app/all.yaml":           {Data: []byte(way.objects)},
				}, n)
			})
		}
	}
}

func benchmarkProof(b *testing.B, tree fstest.MapFS, objects int) {
	exact := 0
	for b.Loop() {
		report, err := scanner.Scan(context.Background(), scanner.Input{Head: scanner.Tree{FS: tree}})
		if err != nil {
			b.Fatal(err)
		}
		if len(report.Findings) != objects {
			b.Fatalf("%d findings for %d objects: %v", len(report.Findings), objects, report.Indeterminate)
		}
		exact = 0
		for _, f := range report.Findings {
			if f.Location.Exact {
				exact++
			}
		}
	}
	b.ReportMetric(float64(exact), "exact")
}
