package scanner_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/preadmit/preadmit/scanner"
)

// A policy of the base denies what the head adds.
func ExampleScan() {
	const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: object.spec.replicas <= 3, message: at most 3 replicas}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny]}
`
	const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`
	base := fstest.MapFS{"policies/replicas.yaml": {Data: []byte(policy)}}
	head := fstest.MapFS{"policies/replicas.yaml": {Data: []byte(policy)}, "app/web.yaml": {Data: []byte(deployment)}}
	report, err := scanner.Scan(context.Background(), scanner.Input{
		Base: &scanner.Tree{FS: base},
		Head: scanner.Tree{FS: head},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Printf("%s:%d: %s %s/%s: %s\n", f.Location.Path, f.Location.StartLine, f.Action, f.Object.Kind, f.Object.Name, f.Message)
	}
	fmt.Println(report.Verdict("deny", false))
	// Output:
	// app/web.yaml:6: Deny Deployment/web: at most 3 replicas
	// failed
}

// Compare says what a change does to the rendered objects, and judges nothing.
func ExampleCompare() {
	file := func(color string) fstest.MapFS {
		return fstest.MapFS{"app/cm.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {color: " + color + "}}")}}
	}
	comparison, err := scanner.Compare(context.Background(), scanner.Input{
		Base: &scanner.Tree{FS: file("green")},
		Head: scanner.Tree{FS: file("blue")},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range comparison.Changes.Objects {
		fmt.Println(o.Operation, o.Object.Kind, o.Object.Name)
		for _, line := range o.Diff[1:4] {
			fmt.Println(line)
		}
	}
	// Output:
	// UPDATE ConfigMap c
	//  apiVersion: v1
	//  data:
	// -  color: green
}
