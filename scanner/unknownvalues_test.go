package scanner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sealed is a value encrypted by SOPS, and sops is the metadata of SOPS in the object.
const (
	sealed = `"ENC[AES256_GCM,data:q83vEg==,iv:MDEy,tag:MDEy,type:str]"`
	sops   = "sops:\n  lastmodified: \"2024-01-01T00:00:00Z\"\n  mac: " + sealed + "\n"
)

// rules are policies on objects with encrypted values.
const rules = `
-- policies/p.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: rules.example.com}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["", apps], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [secrets, configmaps, deployments]}]}
  validations:
  - {expression: "object == null || has(object.metadata.labels) && 'team' in object.metadata.labels", message: no team}
  - {expression: "object == null || object.kind != 'Secret' || !has(object.data) || object.data.all(k, object.data[k] != '')", message: empty}
  - {expression: "object == null || object.kind != 'Deployment' || object.spec.replicas < 10", message: too many}
  - {expression: "object == null || object.kind != 'Deployment' || object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest'))", message: latest}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: rules}
spec: {policyName: rules.example.com, validationActions: [Deny]}
`

func encryptedSecret(name, more string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + more + "}\ndata:\n  password: " + sealed + "\n" + sops
}

func encryptedDeployment(replicas, first, second string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {team: a}}\nspec:\n  replicas: " + replicas +
		"\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: a\n        image: " +
		first + "\n      - name: b\n        image: " + second + "\n" + sops
}

// TestEncryptedValues checks that verdicts which do not depend on encrypted values are exact and
// located, and that others are indeterminate and name the value.
func TestEncryptedValues(t *testing.T) {
	const kustomization = "-- app/kustomization.yaml --\nresources: [a.yaml]\nlabels: [{pairs: {team: a}}]\n"
	const file = "-- app/a.yaml --\n"
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"value":                   {"", file + encryptedSecret("s", ", labels: {team: a}"), []string{"a.yaml:1 spec.validations[1] depends on object.data.password, which is not known: it is encrypted by SOPS"}},
		"value and a finding":     {"", file + encryptedSecret("s", ""), []string{"a.yaml:1 spec.validations[1] depends on object.data.password, which is not known: it is encrypted by SOPS", "a.yaml:3 no team"}},
		"kustomization":           {"", kustomization + file + encryptedSecret("s", ""), []string{"a.yaml:1 spec.validations[1] depends on object.data.password, which is not known: it is encrypted by SOPS"}},
		"value that is a number":  {"", file + encryptedDeployment(sealed, "a:1", "b:1"), []string{"a.yaml:1 spec.validations[2] depends on object.spec.replicas, which is not known: it is encrypted by SOPS"}},
		"value of no matter":      {"", file + encryptedDeployment("1", sealed, "b:latest"), []string{"a.yaml:14 latest"}},
		"value that matters":      {"", file + encryptedDeployment("1", sealed, "b:1"), []string{"a.yaml:1 spec.validations[3] depends on object.spec.template.spec.containers[0].image, which is not known: it is encrypted by SOPS"}},
		"known value refused":     {"", file + encryptedDeployment("-1", sealed, "b:1"), []string{"a.yaml:5 Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
		"name":                    {"", file + encryptedSecret(sealed, ", labels: {team: a}"), []string{"a.yaml:1 which object this is depends on metadata.name, which is not known: it is encrypted by SOPS"}},
		"only the key is changed": {file + encryptedSecret("s", ", labels: {team: a}"), file + strings.Replace(encryptedSecret("s", ", labels: {team: a}"), "lastmodified: \"2024", "lastmodified: \"2025", 1), nil},
		"removed":                 {file + encryptedSecret("s", ", labels: {team: a}"), "-- README --\n", nil},
		"not encrypted any more":  {file + encryptedSecret("s", ", labels: {team: a}"), file + "apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {team: a}}\ndata: {password: \"\"}\n", []string{"a.yaml:4 empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			base := ""
			if test.base != "" {
				base = test.base + rules
			}
			r := mustScan(t, input(base, test.head+rules))
			var got []string
			for _, f := range r.Findings {
				got = append(got, fmt.Sprintf("%s:%d %s", strings.TrimPrefix(f.Location.Path, "app/"), f.Location.StartLine, f.Message))
			}
			for _, i := range r.Indeterminate {
				got = append(got, fmt.Sprintf("%s:%d %s", strings.TrimPrefix(i.Location.Path, "app/"), i.Location.StartLine, i.Why))
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
