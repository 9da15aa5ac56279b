package scanner_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

const fieldsPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: fields.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}
  variables:
  - {name: settings, expression: "object.data.filter(k, k.startsWith('max'))"}
  validations:
  - expression: object == null || variables.settings.all(k, int(object.data[k]) <= 5)
  - expression: object == null || has(object.metadata.labels) && 'team' in object.metadata.labels
  - expression: object == null || object.data.mode == 'fast' || object.data.debug == 'true'
  - expression: object != null || oldObject.data.keep == 'false'
  - expression: object == null || 1 > 2
  - expression: object == null || int(object.data.mode) > 0
`

const fieldsBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: fields}
spec: {policyName: fields.example.com, validationActions: [Deny]}
`

const fieldsConfig = `apiVersion: v1
kind: ConfigMap
metadata:
  name: %s
data:
  mode: slow
  maxA: "3"
  maxB: "9"
  maxC: "7"
  debug: "false"
  keep: "true"
`

// TestFieldLocations checks the lines and related lines of validations: for failing entries of a
// map, an absent label, alternatives, a deleted object, an expression without fields, and one that
// is an error.
func TestFieldLocations(t *testing.T) {
	policies := &fstest.MapFile{Data: []byte(fieldsPolicy + "---" + fieldsBinding)}
	config := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, fieldsConfig, name)}
	}
	r, err := scanner.Scan(context.Background(), scanner.Input{
		Base: &scanner.Tree{FS: fstest.MapFS{"policies/p.yaml": policies, "app/old.yaml": config("old")}},
		Head: scanner.Tree{FS: fstest.MapFS{"policies/p.yaml": policies, "app/new.yaml": config("new")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, f := range r.Findings {
		id := fmt.Sprintf("%s %d", f.Operation, *f.Validation)
		for _, l := range append([]report.Location{f.Location}, f.Location.Related...) {
			exact := map[bool]string{true: "exact", false: "nearest"}[l.Exact]
			got[id] = append(got[id], fmt.Sprintf("%s:%d %s %s %s", l.Path, l.StartLine, l.Tree, exact, l.Field))
		}
	}
	want := map[string][]string{
		"CREATE 0": {"app/new.yaml:8 head exact data.maxB", "app/new.yaml:9 head exact data.maxC"},
		"CREATE 1": {"app/new.yaml:3 head nearest metadata.labels"},
		"CREATE 2": {"app/new.yaml:6 head exact data.mode", "app/new.yaml:10 head exact data.debug"},
		"DELETE 3": {"app/old.yaml:11 base exact data.keep"},
		"CREATE 4": {"app/new.yaml:1 head nearest "},
		"CREATE 5": {"app/new.yaml:6 head exact data.mode"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
}
